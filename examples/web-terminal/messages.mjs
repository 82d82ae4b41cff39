// What a page may say. Bytes are typed input; everything else is one of these, checked before anybody acts on it.
const isInteger = (value, least, most) => Number.isInteger(value) && value >= least && value <= most;

const isSize = ({cols, rows}) => isInteger(cols, 2, 1000) && isInteger(rows, 1, 1000);

const accesses = ['read', 'write', 'execute', 'connect'];

const isQuestion = ({access, target}) =>
  accesses.includes(access) && typeof target === 'string' && target !== '' && target.length <= 4096;

/** By type: which fields are taken over, and whether their values make sense. */
const known = new Map([
  ['start', {fields: ['cols', 'rows'], isValid: isSize}],
  ['resize', {fields: ['cols', 'rows'], isValid: isSize}],
  ['drawn', {fields: ['bytes'], isValid: ({bytes}) => isInteger(bytes, 0, 2 ** 31)}],
  ['why', {fields: ['access', 'target'], isValid: isQuestion}],
  ['dispose', {fields: [], isValid: () => true}],
]);

/** The message, with its own fields only; undefined if it is none. */
export function readMessage(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const kind = known.get(value?.type);
  if (kind === undefined || !kind.isValid(value)) return undefined;
  return {type: value.type, ...Object.fromEntries(kind.fields.map((field) => [field, value[field]]))};
}
