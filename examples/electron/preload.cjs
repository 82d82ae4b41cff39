// The only bridge between the page and the terminal: text, sizes and the report.
'use strict';
const {contextBridge, ipcRenderer} = require('electron');

const from = (channel) => (listener) => ipcRenderer.on(channel, (_event, value) => listener(value));
const to = (channel) => (value) => ipcRenderer.send(channel, value);

contextBridge.exposeInMainWorld('terminalHost', {
  onData: from('data'),
  onSandbox: from('sandbox'),
  ready: to('ready'),
  drawn: to('drawn'),
  input: to('input'),
  resize: to('resize'),
});
