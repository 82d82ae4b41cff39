// What every test file imports.
import { removeFiles } from './files';
import { endHosts } from './hosts';
import { endLifelines } from './lifelines';
import { endSessions } from './sessions';

export * from './cases';
export * from './children';
export * from './confined';
export * from './files';
export * from './hosts';
export * from './lifelines';
export * from './module';
export * from './processes';
export * from './refusals';
export * from './sessions';

jest.setTimeout(90_000);

// First those who use the files, then the files; each of them also when another one fails.
afterEach(async () => {
  const ended = await Promise.allSettled([endSessions(), endHosts(), endLifelines()]);
  removeFiles();
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
});
