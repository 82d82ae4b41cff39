// When a session warns about how its processes are followed: decided from its report, so that a Mac's can be judged here.
import * as path from 'node:path';
import { ours, repositoryRoot } from './support';

interface Report {
  mechanisms: string[];
  noCgroup?: string;
  unmarked?: string;
}

const { trackingWarning } = require(path.join(repositoryRoot, 'dist/notices.js')) as {
  trackingWarning(tracking: Report): { code: string; message: string } | undefined;
};

ours('what no cgroup, no scope and no mark follows is warned about, each in its own words', () => {
  for (const mechanisms of [['cgroup', 'subreaper'], ['landlock-scope', 'subreaper'], ['seatbelt-mark']]) {
    expect(trackingWarning({ mechanisms, noCgroup: 'none' })).toBeUndefined();
  }
  expect(trackingWarning({ mechanisms: ['subreaper'], noCgroup: 'none' })).toMatchObject({
    code: 'WEAK_TRACKING',
    message: expect.stringContaining('no cgroup (none)'),
  });
  const unmarked = trackingWarning({ mechanisms: ['seatbelt-mark'], noCgroup: 'none', unmarked: 'sudo' });
  expect(unmarked).toMatchObject({ code: 'WEAK_TRACKING', message: expect.stringContaining('cannot be marked: sudo') });
  expect(unmarked?.message).not.toContain('cgroup');
});
