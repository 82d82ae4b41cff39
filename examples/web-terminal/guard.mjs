// Who may talk to the server. Any web site that the user looks at can make the browser send requests to a port of this
// machine, and every other user of the machine can connect to it. So three things are looked at:
//   Host    what the browser believes it talks to: shows a foreign name that was made to point here (DNS rebinding)
//   Origin  the page that opens a socket: browsers let every site open one to everywhere
//   token   known to those who saw the line that the server printed. A cookie would not do: browsers send it to all
//           ports of a machine, whoever listens there
import {createHash, randomBytes, timingSafeEqual} from 'node:crypto';

const digest = (text) => createHash('sha256').update(text).digest();

export class Guard {
  token = randomBytes(32).toString('base64url');
  #digest = digest(this.token);

  /** `host` is the only value of the Host header that is taken, with the port. */
  constructor(host) {
    this.host = host;
  }

  /** What a person opens, once. */
  get url() {
    return `http://${this.host}/?token=${this.token}`;
  }

  isHost({headers}) {
    return headers.host === this.host;
  }

  isOrigin({headers}) {
    return headers.origin === `http://${this.host}`;
  }

  /** Takes the same time whatever was guessed, as digests of equal length are compared. */
  hasToken({url}) {
    const [, query = ''] = url.split('?', 2);
    return timingSafeEqual(digest(new URLSearchParams(query).get('token') ?? ''), this.#digest);
  }

  /** Why this request may not open a socket, or undefined. */
  refusalOfSocket(request) {
    if (!this.isHost(request)) return 'foreign Host';
    if (!this.isOrigin(request)) return 'foreign Origin';
    if (!this.hasToken(request)) return 'wrong token';
    return undefined;
  }
}
