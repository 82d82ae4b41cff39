import type { Protection } from './policy';

/** One protection: whether the settings ask for it, and what enforces it. */
export interface ProtectionReport {
  name: Protection;
  wanted: boolean;
  /** 'landlock', 'seccomp', 'connect-gate', ... */
  enforcedBy?: string;
  /** Asked for, and not enforced. */
  missing?: true;
  /** Why it is missing, or what to know about how it is enforced. */
  reason?: string;
}

/** What holds a session: an editor can show it as a padlock. */
export interface Enforcement {
  /**
   * Whether files or system calls are restricted. If not, the session is tracked, and, where settings are enabled that cannot be
   * enforced here, `protections` says what is left: without privileges it runs all the same.
   */
  confined: boolean;
  /** Why it is not confined. */
  reason?: string;
  backend: 'landlock' | 'seatbelt' | 'none';
  /** The backend of the settings is not to be had, and why; what can be enforced without it is. */
  backendMissing?: string;
  landlockAbi: number;
  landlockErrata: number;
  protections: readonly ProtectionReport[];
}

const none: Enforcement = Object.freeze({
  confined: false,
  reason: 'no settings were given',
  backend: 'none',
  landlockAbi: 0,
  landlockErrata: 0,
  protections: Object.freeze([]),
});

/** From the addon's JSON; '' means that there was no policy. */
export function readEnforcement(json: string): Enforcement {
  return json === '' ? none : (JSON.parse(json) as Enforcement);
}
