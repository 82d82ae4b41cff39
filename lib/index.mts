import * as cjs from './index.js';

export type * from './index.js';
export {
  Policy,
  ResolvedSettings,
  SandboxError,
  SettingsError,
  checkSettings,
  createSandboxedPty,
  createTerminal,
  explain,
  fork,
  open,
  resolvePolicy,
  resolveSettings,
  spawn,
} from './index.js';
export default cjs;
