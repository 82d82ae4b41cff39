// What is served: the page for those who have the token, and the files that it needs, each of them by name.
import {createRequire} from 'node:module';
import {basename, dirname, join} from 'node:path';
import express from 'express';

const require = createRequire(import.meta.url);
const own = join(import.meta.dirname, 'public');

/** Nothing in them is secret: anybody can have them from the registry. */
const assets = {
  '/page.mjs': join(own, 'page.mjs'),
  '/connection.mjs': join(own, 'connection.mjs'),
  '/panel.mjs': join(own, 'panel.mjs'),
  '/refusals.mjs': join(own, 'refusals.mjs'),
  '/style.css': join(own, 'style.css'),
  '/icon.svg': join(own, 'icon.svg'),
  '/vendor/xterm.mjs': join(dirname(require.resolve('@xterm/xterm')), 'xterm.mjs'),
  '/vendor/xterm.css': require.resolve('@xterm/xterm/css/xterm.css'),
  '/vendor/addon-fit.mjs': join(dirname(require.resolve('@xterm/addon-fit')), 'addon-fit.mjs'),
};

const contentPolicy = (host) =>
  [
    `default-src 'none'`,
    `script-src 'self'`,
    // xterm.js makes <style> elements for its colours and sizes.
    `style-src 'self' 'unsafe-inline'`,
    `img-src 'self'`,
    `connect-src ws://${host}`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ');

const headers = (host) => ({
  'Content-Security-Policy': contentPolicy(host),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  // The token is in the address of the page.
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
});

/** A path with a folder like ~/.cache in it is no reason for "not found": only the last part is looked at. */
const send = (response, file) => response.sendFile(basename(file), {root: dirname(file), cacheControl: false});

const refuse = (response, text) => response.status(403).type('text/plain').send(`${text}\n`);

export function createApp(guard) {
  const app = express();
  app.disable('x-powered-by');
  app.use((request, response, next) => {
    response.set(headers(guard.host));
    if (!guard.isHost(request)) return refuse(response, `This server is ${guard.host} and nothing else.`);
    next();
  });
  app.get('/', (request, response) => {
    if (!guard.hasToken(request)) return refuse(response, 'Open the address that the server printed, with its token.');
    send(response, join(own, 'index.html'));
  });
  for (const [path, file] of Object.entries(assets)) app.get(path, (_request, response) => send(response, file));
  // Express would print the error and show it in the page. Four parameters are how it knows such a function.
  app.use((error, _request, response, _next) => {
    const status = error.status ?? 500;
    if (status >= 500) console.error(`A request failed: ${error.message}`);
    if (response.headersSent) response.destroy();
    else response.status(status).type('text/plain').send(`Error ${status}\n`);
  });
  return app;
}
