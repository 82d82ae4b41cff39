// A registry with one package in it, on loopback: enough for `npm install x@npm:sandboxed-pty`.
import {createHash} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {createServer} from 'node:http';

/** Serves the tarball until close(). */
export async function serveTarball(path, {name, version, ...manifest}) {
  const tarball = readFileSync(path);
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const server = createServer((request, response) => {
    const host = `http://${request.headers.host}`;
    if (request.url === `/${name}`) {
      const dist = {integrity, tarball: `${host}/${name}.tgz`};
      const one = {...manifest, name, version, dist, hasInstallScript: true};
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({name, 'dist-tags': {latest: version}, versions: {[version]: one}}));
    } else if (request.url === `/${name}.tgz`) {
      response.end(tarball);
    } else {
      response.statusCode = 404;
      response.end('{}');
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close()};
}
