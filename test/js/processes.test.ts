// The readers of process tables that the other tests use. That of macOS is run here as well: on the documented output of
// its programs (written by hand, not recorded on a Mac), and on the programs of the same names that this machine has.
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { children, commandLine, holders, isRunning, linux, openFds, ours, pids, startTime, stat, type Need } from './support';
import { parseLsofDescriptors, parsePs, processTable as macos } from './support/processes_macos';

const installed = (program: string): Need => ({
  met: spawnSync(program, ['-v'], { stdio: 'ignore' }).error === undefined,
  reason: `needs ${program}`,
});

const documented = `    1     0     1      0 Ss   Mon Nov  2 09:00:01 2026     /sbin/launchd
  501     1   501   9001 S+   Mon Nov 16 17:57:01 2026     /bin/sh -c read x;  echo two  spaces
 9001   501  9001   9001 R+   Mon Nov 16 17:57:02 2026     node a.js
 9002   501  9001     -1 Z    Mon Nov 16 17:57:03 2026     (sleep)
 9003   501  9003   9001 TN   Mon Nov 16 17:57:03 2026
`;

ours('rows of ps are read column by column, with whatever is in the command', () => {
  expect(parsePs(documented)).toEqual([
    { pid: 1, ppid: 0, pgrp: 1, foreground: 0, state: 'S', started: 'Mon Nov 2 09:00:01 2026', command: '/sbin/launchd' },
    { pid: 501, ppid: 1, pgrp: 501, foreground: 9001, state: 'S', started: 'Mon Nov 16 17:57:01 2026', command: '/bin/sh -c read x;  echo two  spaces' },
    { pid: 9001, ppid: 501, pgrp: 9001, foreground: 9001, state: 'R', started: 'Mon Nov 16 17:57:02 2026', command: 'node a.js' },
    { pid: 9002, ppid: 501, pgrp: 9001, foreground: -1, state: 'Z', started: 'Mon Nov 16 17:57:03 2026', command: '(sleep)' },
    { pid: 9003, ppid: 501, pgrp: 9003, foreground: 9001, state: 'T', started: 'Mon Nov 16 17:57:03 2026', command: '' },
  ]);
  expect(parsePs('')).toEqual([]);
  expect(() => parsePs('PID PPID COMMAND')).toThrow('PID PPID COMMAND');
});

ours('descriptors of lsof are read, and nothing else that it lists', () => {
  expect(parseLsofDescriptors('p501\nfcwd\nftxt\nftxt\nf0\nf2\nf1\nf10\nf10\n')).toEqual([0, 1, 2, 10]);
  expect(parseLsofDescriptors('')).toEqual([]);
});

ours.needing(linux, installed('ps'))('ps and /proc agree about a process and its children', () => {
  const { ppid, pgrp, foreground } = stat(process.pid);
  expect(macos.stat(process.pid)).toMatchObject({ ppid, pgrp, foreground });
  expect(macos.pids()).toContain(process.pid);
  expect(macos.children(process.ppid)).toEqual(children(process.ppid));
  expect(macos.children(process.pid)).toEqual(children()); // not the program that was asked
  expect(macos.startTime(process.pid)).toBe(macos.startTime(process.pid));
  expect(macos.startTime(process.pid)).not.toBe(macos.startTime(1));
  expect(macos.commandLine(process.pid)[0]).toBe(commandLine(process.pid)[0]);
  expect(() => macos.stat(0x7fffffff)).toThrow('no process');
});

ours.needing(linux, installed('lsof'))('lsof and /proc agree about descriptors', () => {
  const fd = fs.openSync(__filename, 'r');
  try {
    expect(macos.openFds(process.pid)).toContain(fd);
    expect(macos.openFds('self')).toContain(fd);
    expect(macos.holders(fs.realpathSync(__filename))).toContain(process.pid);
  } finally {
    fs.closeSync(fd);
  }
  expect(macos.holders(fs.realpathSync(__filename))).not.toContain(process.pid);
  expect(macos.openFds('self')).toEqual(openFds());
});

ours('this system says what it is asked', () => {
  const fd = fs.openSync(__filename, 'r');
  try {
    expect(openFds()).toContain(fd);
    expect(holders(fs.realpathSync(__filename))).toContain(process.pid);
  } finally {
    fs.closeSync(fd);
  }
  expect(openFds()).not.toContain(fd);
  expect(stat(process.pid).ppid).toBe(process.ppid);
  expect(pids()).toContain(process.pid);
  expect(children(process.ppid)).toContain(process.pid);
  expect(startTime(process.pid)).toBe(startTime(process.pid));
  expect(isRunning(process.pid)).toBe(true);
  expect(isRunning(0x7fffffff)).toBe(false);
});
