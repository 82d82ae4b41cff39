// Writes docs/settings-reference.md from the schema. `--check` changes nothing and fails if it is out of date.
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {Failure, main, root} from './lib/process.mjs';

const schema = JSON.parse(readFileSync(join(root, 'schema', 'settings.schema.json'), 'utf8'));

function resolve(node) {
  if (!node.$ref) return node;
  const target = schema.$defs[node.$ref.replace('#/$defs/', '')];
  if (!target) throw new Failure(`The schema refers to ${node.$ref}, which it does not define.`);
  return {...target, ...node};
}

const code = (value) => `\`${value}\``;
const cell = (text) => text.replaceAll('|', '\\|');

const itemNames = {path: 'paths', absolutePath: 'absolute paths', host: 'hosts', envVar: 'names'};

/** What a value looks like. Every value may also be null, which the text above the tables says once. */
function typeOf(node) {
  if (node.enum) return node.enum.filter((value) => value !== null).map(code).join(', ');
  const type = [node.type].flat().find((name) => name !== 'null');
  if (type === 'array') {
    const items = itemNames[(node.items.$ref ?? '').replace('#/$defs/', '')];
    if (!items) throw new Failure(`scripts/settings-reference.mjs has no name for the items ${JSON.stringify(node.items)}.`);
    return `list of ${items}`;
  }
  const range = node.minimum === undefined ? '' : `, ${node.minimum} to ${node.maximum}`;
  return type + range;
}

/** null stands for what depends on the profile or the platform, or for an alias: the description says which. */
function defaultOf(node) {
  if (node.default === undefined || node.default === null) return '';
  if (!Array.isArray(node.default)) return code(node.default);
  return node.default.length === 0 ? code('[]') : node.default.map(code).join(', ');
}

/** The rows of an object's fields; those of an object within it follow it, with its name in front. */
function rows(properties, prefix = '') {
  return Object.entries(properties).flatMap(([name, given]) => {
    const node = resolve(given);
    const row = `| ${code(prefix + name)} | ${cell(typeOf(node))} | ${cell(defaultOf(node))} | ${cell(node.description ?? '')} |`;
    return [row, ...(node.properties ? rows(node.properties, `${prefix}${name}.`) : [])];
  });
}

const table = (properties) => ['| setting | value | default | meaning |', '|---|---|---|---|', ...rows(properties)];

const platforms = ['linux', 'macos', 'windows'];

function exclusions() {
  return schema.allOf.map(({not}) => `- ${not.required.map(code).join(' and ')}`);
}

function document() {
  const fields = Object.fromEntries(Object.entries(schema.properties).filter(([name]) => !platforms.includes(name)));
  return [
    '<!-- Made by scripts/settings-reference.mjs from schema/settings.schema.json: change that instead. -->',
    '# Settings reference',
    '',
    'Every field of the settings, from the schema that editors complete them by (`sandboxed-pty schema` prints it).',
    '[settings.md](settings.md) says how documents, layers and paths work. `null` or absent means the default; an explicit list',
    'replaces it. Where no default is given the meaning says what it is, or there is none.',
    '',
    '## Settings',
    '',
    ...table(fields),
    '',
    `${platforms.map(code).join(', ')} each take all of these once more, for that system only and on top of the others.`,
    '',
    'Only one of these may be in one object, as they are names of the same thing:',
    '',
    ...exclusions(),
    '',
    '## Permissions',
    '',
    `${schema.$defs.permissions.description} They are an object of their own: the option \`permissions\`, or \`agent.sandbox_permissions\` in an editor's settings.`,
    '',
    ...table(schema.$defs.permissions.properties),
    '',
    '## Values',
    '',
    `- **Paths**: ${schema.$defs.path.description}`,
    '- **Absolute paths** begin with `/`, `~` or a variable.',
    '- **Hosts**: `example.org` or `*.example.org`, either with `:port`. Addresses, `*` alone and `*.` before a public suffix are errors.',
    '- **Names** of variables: a trailing `*` stands for any continuation.',
    '- A list has at most 1000 entries.',
    '',
  ].join('\n');
}

await main(() => {
  const file = join(root, 'docs', 'settings-reference.md');
  const text = document();
  if (!process.argv.includes('--check')) return writeFileSync(file, text);
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    throw new Failure(`${file} is out of date. Run: node scripts/settings-reference.mjs`);
  }
});
