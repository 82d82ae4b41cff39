import { loadNative } from './native-loader';

/** A handle that only the addon can open. */
export interface NativeHandle {
  readonly __native: unique symbol;
}

export interface NativeDocument {
  text: string;
  pointer: string;
  shape: 'auto' | 'editor' | 'sandbox' | 'permissions';
}

export interface NativeFailed {
  /** JSON: Problem[] */
  errors: string;
}

/** The addon's entry points about settings and policies. Objects travel as JSON. */
export interface NativeSettings {
  parse(document: NativeDocument): NativeFailed | { errors?: never; plain: string };
  resolveSettings(layers: {
    user: NativeDocument | undefined;
    project: NativeDocument | undefined;
    permissions: NativeDocument | undefined;
    platform: string;
    projectTrusted: boolean;
  }): NativeFailed | { errors?: never; handle: NativeHandle; refused: string };
  describeSettings(settings: NativeHandle, kind: string): string;
  resolvePolicy(input: {
    settings: NativeHandle;
    kind: string;
    projectDir: string;
    cwd: string;
    home: string;
    term: string;
    tempDir: string;
    repositories: string[];
    unsandboxed: boolean;
    env: (string | Uint8Array)[] | undefined;
    /** Instead of `env`: this process's, but for these names. */
    hostEnvWithout: string[] | undefined;
    extraEnv: (string | Uint8Array)[] | undefined;
  }): NativeFailed | { errors?: never; handle: NativeHandle };
  releasePolicy(policy: NativeHandle): void;
  describePolicy(policy: NativeHandle): string;
  policyEnvironment(policy: NativeHandle): Buffer[];
  explain(policy: NativeHandle, access: string, target: string): string;
}

export function nativeSettings(): NativeSettings {
  return loadNative();
}
