import * as cjs from './index.js';

export type * from './index.js';
export const { SandboxError, createSandboxedPty, spawn, fork, createTerminal, open } = cjs;
export default cjs;
