// SPDX-License-Identifier: Apache-2.0
// Writes api.d.ts: the messages of proto/reel/v1 as proto3 JSON has them, with their comments. Runs before `npm pack`.
//
//   node generate_types.js [OUTPUT]
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PROTO = fileURLToPath(new URL('../../proto/reel/v1/', import.meta.url));
const STRING_NUMBERS = ['int64', 'uint64', 'sint64', 'fixed64', 'sfixed64'];
const WELL_KNOWN = {
  string: 'string', bool: 'boolean', bytes: 'string', 'google.protobuf.Duration': 'string',
  'google.protobuf.Timestamp': 'string',
  'google.rpc.Status': '{ code?: number; message?: string; details?: Record<string, unknown>[] }',
};

const camel = (name) => name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());
const typeOf = (name) => WELL_KNOWN[name] ?? (STRING_NUMBERS.includes(name) ? 'string | number'
  : /^[a-z]/.test(name) ? 'number' : name);

function fieldOf(line) {
  const map = line.match(/^map<(\w+), ([\w.]+)> (\w+) = \d+;/);
  if (map) return `${camel(map[3])}?: Record<string, ${typeOf(map[2])}>;`;
  const field = line.match(/^(repeated |optional )?([\w.]+) (\w+) = \d+;/);
  if (!field) throw new Error(`not understood: ${line}`);
  return `${camel(field[3])}?: ${typeOf(field[2])}${field[1] === 'repeated ' ? '[]' : ''};`;
}

// One file; what a line stands in is a stack of the blocks around it.
function typesOf(text) {
  const out = [], blocks = [];
  let values = [], comment = [];
  const say = (line) => {
    const indent = '  '.repeat(blocks.includes('message') ? 1 : 0);
    if (comment.length) out.push(`${indent}/** ${comment.join(' ')} */`);
    out.push(`${indent}${line}`);
    comment = [];
  };
  for (const line of text.split('\n').map((one) => one.trim())) {
    const opened = line.match(/^(message|enum|service|oneof) (\w+) \{(\})?$/);
    if (line.startsWith('//')) comment.push(line.slice(2).trim());
    else if (opened) {
      const [, kind, name, closed] = opened;
      if (kind === 'message') say(`export interface ${name} {${closed ? '}' : ''}`);
      if (kind === 'enum') values = [name];
      if (kind !== 'message' && kind !== 'enum') comment = [];
      if (kind === 'enum') say(`export type ${name} =`);
      if (!closed) blocks.push(kind);
    } else if (line === '}') {
      const kind = blocks.pop();
      if (kind === 'message') out.push('}');
      if (kind === 'enum') out.push(`  ${values.slice(1).map((value) => `'${value}'`).join(' | ')};`);
      comment = [];
    } else if (blocks.at(-1) === 'enum') {
      if (line) values.push(line.match(/^(\w+) = \d+;/)[1]);
      comment = [];
    } else if ((blocks.at(-1) === 'message' || blocks.at(-1) === 'oneof') && line && !line.startsWith('reserved')) say(fieldOf(line));
    else comment = [];
  }
  if (blocks.length) throw new Error('a block is not closed');
  return out;
}

const files = readdirSync(PROTO).filter((name) => name.endsWith('.proto')).sort();
const lines = files.flatMap((name) => typesOf(readFileSync(PROTO + name, 'utf8')));
const output = process.argv[2] ?? fileURLToPath(new URL('api.d.ts', import.meta.url));
writeFileSync(output, ['// SPDX-License-Identifier: Apache-2.0', '// Made from proto/reel/v1 by generate_types.js.', ...lines, ''].join('\n'));
