import * as cjs from './index.js';

export type * from './index.js';
export { SandboxError, createSandboxedPty, spawn, fork, createTerminal, open } from './index.js';
export default cjs;
