import { isNativeFailure, toSandboxError } from './errors';
import { keeperPath, loadNative, NativeHandlers, NativeSession } from './native-loader';
import { ResolvedOptions } from './options';

/** Options -> native request -> running session, or a SandboxError. */
export function startSession(
  options: ResolvedOptions,
  waitForExec: boolean,
  handlers: NativeHandlers,
): NativeSession {
  const { NativeSession: Constructor } = loadNative();
  const { file, args, env, cwd, uid, gid } = options;
  const request = {
    file,
    args,
    env,
    cwd,
    ...(uid !== undefined && gid !== undefined ? { uid, gid } : {}),
    cols: Math.trunc(options.cols),
    rows: Math.trunc(options.rows),
    utf8: options.utf8Line,
    keeperPath: keeperPath(),
    waitForExec,
  };
  try {
    return new Constructor(request, handlers);
  } catch (error) {
    throw isNativeFailure(error) ? toSandboxError(error) : error;
  }
}
