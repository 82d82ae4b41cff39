import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';

import type { Tracking } from '../disposal';
import type { Enforcement, ProtectionReport } from '../enforcement';

export interface Finding {
  id: string;
  /** 'missing': strict settings may refuse to start; 'weaker': they start, and less holds. */
  status: 'ok' | 'weaker' | 'missing';
  title: string;
  detail: string;
  fix?: string;
}

/** What a trial session told. */
export interface Trial {
  enforcement: Enforcement;
  tracking: Tracking;
  /** Of a process in it. */
  cgroup: string | undefined;
}

const kernelAdvice: Partial<Record<string, string>> = {
  files: 'Linux 6.2 or newer with Landlock: "landlock" must be in /sys/kernel/security/lsm (kernel option lsm=...), and a container must allow the landlock_* system calls.',
  outsiders: 'Linux 6.12 or newer.',
  syscalls: 'A kernel with CONFIG_SECCOMP_FILTER, and a container that allows the seccomp system call.',
  'unix-sockets': 'A kernel with seccomp user notification (5.0 or newer), and no sandbox around this one that uses it already.',
};

function protectionOf(trial: Trial, name: string): ProtectionReport | undefined {
  return trial.enforcement.protections.find((protection) => protection.name === name);
}

/** macOS: told by what it tracks with, so that a report of one can be judged anywhere. */
function isMac(trial: Trial): boolean {
  return trial.tracking.mechanisms.includes('seatbelt-mark');
}

function judge(trial: Trial, name: string, title: string, good: (by: string) => string): Finding {
  const report = protectionOf(trial, name);
  if (report?.enforcedBy !== undefined) {
    const reason = report.reason === undefined || report.reason === '' ? '' : `; ${report.reason}`;
    const worse = name === 'unix-sockets' && !isMac(trial) && report.enforcedBy !== 'connect-gate' && report.reason !== undefined;
    const advice = worse ? kernelAdvice[name] : undefined;
    return { id: name, status: worse ? 'weaker' : 'ok', title, detail: `${good(report.enforcedBy)}${reason}`, ...(advice && { fix: advice }) };
  }
  const fix = isMac(trial) ? undefined : kernelAdvice[name];
  const detail = report?.reason || trial.enforcement.reason || 'not offered here';
  return { id: name, status: name === 'outsiders' ? 'weaker' : 'missing', title, detail, ...(fix && { fix }) };
}

/** What Landlock, seccomp and the gate make of the protections. */
export function protectionFindings(trial: Trial): Finding[] {
  const { landlockAbi, landlockErrata } = trial.enforcement;
  const landlock = landlockAbi > 0 ? ` ABI ${landlockAbi}${landlockErrata > 0 ? `, errata ${landlockErrata}` : ''}` : '';
  return [
    judge(trial, 'files', 'files', (by) => `${by}${by === 'landlock' ? landlock : ''}`),
    judge(trial, 'unix-sockets', 'UNIX sockets', (by) => (by === 'connect-gate' ? 'seccomp notifications, answered by the keeper' : by)),
    judge(trial, 'network', 'network off', (by) => by),
    judge(trial, 'syscalls', 'system calls', (by) => by),
    judge(trial, 'outsiders', 'signals to others', (by) => (by === 'landlock' ? 'landlock scopes' : by)),
  ];
}

function readWords(file: string): string[] | undefined {
  try {
    return fs.readFileSync(file, 'utf8').split(/\s+/).filter((word) => word !== '');
  } catch {
    return undefined;
  }
}

/** Where cgroup v2 is mounted. */
function cgroupMount(): string {
  try {
    const lines = fs.readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    return lines.find((line) => line.includes(' - cgroup2 '))?.split(' ')[4] ?? '/sys/fs/cgroup';
  } catch {
    return '/sys/fs/cgroup';
  }
}

/** The directory in which sessions get their cgroups. */
function cgroupPlace(trial: Trial): string {
  return path.resolve(cgroupMount(), `.${path.dirname(trial.cgroup ?? '/')}`);
}

export function trackingFinding(trial: Trial): Finding {
  const { mechanisms, noCgroup } = trial.tracking;
  const title = 'ending sessions';
  const by = mechanisms.join(', ');
  if (isMac(trial)) {
    const detail = `${by}; in sessions that are not confined, what runs without a profile (sudo, sandbox-exec) is followed from parent to child`;
    return { id: 'tracking', status: 'ok', title, detail };
  }
  if (noCgroup === undefined) {
    return { id: 'tracking', status: 'ok', title, detail: `${by}; cgroups are made in ${cgroupPlace(trial)}` };
  }
  const confined = mechanisms.includes('landlock-scope');
  const detail = `${by}; no cgroup of its own (${noCgroup})${confined ? '' : ': what forks fast enough is not caught'}`;
  const fix = 'A delegated cgroup: log in through systemd, or: systemd-run --user --scope -p Delegate=yes COMMAND';
  return { id: 'tracking', status: 'weaker', title, detail, fix };
}

/** Which limits can be kept: each needs a controller that was handed down to where the cgroups are made. */
export function limitsFinding(trial: Trial): Finding {
  if (isMac(trial)) {
    const detail = 'macOS cannot limit a group of processes; settings with limits do not start';
    return { id: 'limits', status: 'weaker', title: 'limits', detail };
  }
  const needed = ['pids', 'memory', 'cpu'];
  const offered = trial.tracking.noCgroup === undefined ? (readWords(path.join(cgroupPlace(trial), 'cgroup.controllers')) ?? []) : [];
  const missing = needed.filter((name) => !offered.includes(name));
  if (missing.length === 0) return { id: 'limits', status: 'ok', title: 'limits', detail: `cgroup controllers ${needed.join(', ')}` };
  const detail = `no cgroup controller ${missing.join(', ')}; settings with limits that need one do not start`;
  const fix = 'systemd-run --user --scope -p Delegate="pids memory cpu" COMMAND';
  return { id: 'limits', status: 'weaker', title: 'limits', detail, fix };
}

export function machine(): { system: string; kernel: string; arch: string; node: string; uid: number | undefined } {
  return { system: os.type(), kernel: os.release(), arch: process.arch, node: process.version, uid: process.getuid?.() };
}
