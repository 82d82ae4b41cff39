import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';

import { createSandboxedPty } from '../index';
import { binaryDamage, keeperPath, loadNative } from '../native-loader';
import { removeTree } from '../private-temps';
import { has, Invocation } from './arguments';
import { Finding, limitsFinding, machine, protectionFindings, trackingFinding, Trial } from './doctor-checks';
import { UsageError } from './failure';
import { writeOut } from './output';
import { printable, Style, styleFor } from './style';
import { packageVersion } from './version';

interface Diagnosis {
  version: string;
  machine: ReturnType<typeof machine>;
  findings: Finding[];
  /** Whether strict settings start here. */
  strict: boolean;
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function readCgroup(pid: number): string | undefined {
  try {
    return /^0::(.*)$/m.exec(fs.readFileSync(`/proc/${pid}/cgroup`, 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}

/** A real session that asks for everything and takes what it gets: what it reports is what any other would get. */
async function trySession(): Promise<Trial> {
  const projectDir = fs.mkdtempSync(path.join(os.tmpdir(), 'sandboxed-pty-doctor-'));
  try {
    const pty = createSandboxedPty({
      file: '/bin/sh',
      args: ['-c', 'read wait'],
      projectDir,
      sandbox: { enabled: true, profile: 'workspace', strict: false },
    });
    const trial = { enforcement: pty.sandbox, tracking: pty.tracking, cgroup: readCgroup(pty.pid) };
    const report = await pty.dispose();
    if (!report.converged) throw new Error('a session that was ended did not prove to be empty');
    return trial;
  } finally {
    removeTree(projectDir);
  }
}

function installationFinding(): Finding {
  const title = 'installation';
  try {
    loadNative();
    const keeper = keeperPath();
    const damage = binaryDamage();
    if (damage === undefined) return { id: 'installation', status: 'ok', title, detail: keeper };
    // Whoever signs an app for macOS signs its programs anew, which changes them.
    const status = process.platform === 'darwin' ? 'weaker' : 'missing';
    return { id: 'installation', status, title, detail: damage, fix: 'Reinstall the package, unless you have changed its binaries yourself.' };
  } catch (error) {
    const fix = 'Reinstall the package with install scripts allowed: npm rebuild sandboxed-pty';
    return { id: 'installation', status: 'missing', title, detail: message(error), fix };
  }
}

async function diagnose(): Promise<Diagnosis> {
  const findings = [installationFinding()];
  if (findings[0]?.status !== 'missing') {
    try {
      const trial = await trySession();
      findings.push(...protectionFindings(trial), trackingFinding(trial), limitsFinding(trial));
    } catch (error) {
      findings.push({ id: 'session', status: 'missing', title: 'starting a session', detail: message(error) });
    }
  }
  const strict = findings.every(({ status }) => status !== 'missing');
  return { version: packageVersion(), machine: machine(), findings, strict };
}

const marks: Record<Finding['status'], (style: Style) => string> = {
  ok: (style) => style.good('ok     '),
  weaker: (style) => style.bold('weaker '),
  missing: (style) => style.bad('MISSING'),
};

/** What has the same cause is one line. */
function joined(findings: readonly Finding[]): Finding[] {
  const lines: Finding[] = [];
  for (const finding of findings) {
    const last = lines.at(-1);
    if (last?.status !== finding.status || last.detail !== finding.detail) lines.push({ ...finding });
    else last.title += `, ${finding.title}`;
  }
  return lines;
}

function print(diagnosis: Diagnosis, style: Style): string {
  const { system, kernel, arch, node, uid } = diagnosis.machine;
  const user = uid === 0 ? 'root' : `uid ${uid}`;
  const lines = [style.bold(`sandboxed-pty ${diagnosis.version} on ${system} ${kernel} ${arch}, Node.js ${node}, ${user}`)];
  for (const { status, title, detail, fix } of joined(diagnosis.findings)) {
    lines.push(`${marks[status](style)} ${title}: ${printable(detail)}`);
    if (fix !== undefined) lines.push(style.dim(`        what helps: ${fix}`));
  }
  const names = diagnosis.findings.filter(({ status }) => status === 'missing').map(({ title }) => title);
  lines.push(
    diagnosis.strict
      ? style.good('Sessions are confined here, also with strict settings.')
      : style.bad(`Strict settings do not start here (${names.join(', ')}). --no-strict starts with the rest.`),
  );
  return `${lines.join('\n')}\n`;
}

/** The exit code: 0 if strict settings start here. */
export async function doctor(invocation: Invocation): Promise<number> {
  if (invocation.words.length > 0) throw new UsageError('doctor takes no arguments.');
  const diagnosis = await diagnose();
  const text = has(invocation, 'json') ? `${JSON.stringify(diagnosis, null, 2)}\n` : print(diagnosis, styleFor(1));
  writeOut(text);
  return diagnosis.strict ? 0 : 1;
}
