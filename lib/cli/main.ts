#!/usr/bin/env node
import * as fs from 'fs';

import { Invocation, parseCommandLine } from './arguments';
import { describeFailure, exitCodes, UsageError } from './failure';
import { writeOut } from './output';
import { styleFor } from './style';

/** Each command's code is loaded when it is asked for: `run` starts sooner. */
function execute(invocation: Invocation): number | Promise<number> {
  switch (invocation.command.name) {
    case 'doctor':
      return (require('./doctor') as typeof import('./doctor')).doctor(invocation);
    case 'explain':
      return (require('./explain') as typeof import('./explain')).explainAccess(invocation);
    case 'settings':
      return (require('./settings-view') as typeof import('./settings-view')).showSettings(invocation);
    case 'schema':
      if (invocation.words.length > 0) throw new UsageError('schema takes no arguments.');
      writeOut((require('./version') as typeof import('./version')).schemaText());
      return 0;
    default:
      return (require('./run') as typeof import('./run')).run(invocation);
  }
}

async function main(argv: readonly string[]): Promise<number> {
  const request = parseCommandLine(argv);
  if (request === 'version') {
    writeOut(`${(require('./version') as typeof import('./version')).packageVersion()}\n`);
    return 0;
  }
  if (request === 'help' || 'helpFor' in request) {
    const { commandHelp, fullHelp } = require('./help') as typeof import('./help');
    writeOut(request === 'help' ? fullHelp(styleFor(1)) : commandHelp(request.helpFor, styleFor(1)));
    return 0;
  }
  return execute(request);
}

function fail(error: unknown, argv: readonly string[]): never {
  const { text, exitCode } = describeFailure(error);
  try {
    fs.writeSync(2, text);
  } catch {
    // Nobody listens on stderr; the exit code still tells.
  }
  // A program's exit code 2 must not be taken for a mistake of ours.
  const runs = argv[0] === 'run' || argv[0] === 'shell';
  process.exit(runs && exitCode === exitCodes.usage ? exitCodes.failed : exitCode);
}

const argv = process.argv.slice(2);
main(argv).then(
  (code) => process.exit(code),
  (error: unknown) => fail(error, argv),
);
