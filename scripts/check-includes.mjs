// Proves that dependencies in native/ run one way. The rules are in scripts/lib/include-rules.mjs.
import {findViolations} from './lib/include-rules.mjs';

const violations = findViolations();
for (const {path, line, message} of violations) console.error(`${path}:${line}: ${message}`);
process.exitCode = violations.length > 0 ? 1 : 0;
