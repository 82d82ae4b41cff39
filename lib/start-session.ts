import { isNativeFailure, NativeFailure, toSandboxError } from './errors';
import { featureLimits } from './feature-limits';
import { keeperPath, loadNative, NativeHandlers, NativeSession } from './native-loader';
import { ResolvedOptions } from './options';
import { Policy } from './policy';
import type { Sandbox } from './sandbox';

/** Options -> native request -> running session, or a SandboxError. */
export function startSession(
  options: ResolvedOptions,
  waitForExec: boolean,
  handlers: NativeHandlers,
  sandbox?: Sandbox,
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
    ...(options.keepAliveAfterExit && { keepAliveAfterExit: true }),
    ...(options.stdio && { stdio: options.stdio }),
    ...(featureLimits.cgroup === false && { useCgroup: false }),
    ...(sandbox && {
      policy: Policy.handleOf(sandbox.policy),
      keeper: sandbox.keeper,
      featureLimits,
      ...(sandbox.tempDir === undefined ? {} : { tempDir: sandbox.tempDir }),
    }),
  };
  try {
    const session = new Constructor(request, handlers);
    sandbox?.handOver();
    return session;
  } catch (error) {
    const reason = isNativeFailure(error) ? policyReason(error, sandbox) : undefined;
    sandbox?.abandon();
    throw isNativeFailure(error) ? toSandboxError(error, reason) : error;
  }
}

/** "Permission denied" from execve says nothing about the policy: ask that. */
function policyReason(failure: NativeFailure, sandbox?: Sandbox): string | undefined {
  if (!sandbox || failure.stage !== 'exec' || failure.code !== 'EACCES' || failure.path === undefined) return undefined;
  return sandbox.whyNotExecutable(failure.path);
}
