// The socket: bytes are what the terminal shows and what was typed, texts are messages.

/** Smaller than what the server takes. */
const maxPiece = 16 * 1024;

export class Connection {
  #socket;

  /** `handlers` has a function for each type of message, and open(), output(bytes) and closed(reason). */
  constructor(token, handlers) {
    this.#socket = new WebSocket(`ws://${location.host}/session?token=${encodeURIComponent(token)}`);
    this.#socket.binaryType = 'arraybuffer';
    this.#socket.onopen = () => handlers.open();
    this.#socket.onclose = ({reason}) => handlers.closed(reason);
    this.#socket.onmessage = ({data}) => {
      if (typeof data !== 'string') return handlers.output(new Uint8Array(data));
      const {type, ...content} = JSON.parse(data);
      handlers[type]?.(content);
    };
  }

  tell(type, content = {}) {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({type, ...content}));
  }

  input(bytes) {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    for (let at = 0; at < bytes.length; at += maxPiece) this.#socket.send(bytes.subarray(at, at + maxPiece));
  }
}
