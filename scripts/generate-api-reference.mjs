/**
 * Writes docs/developer/api-reference.md from the contract: every endpoint, its request and its response. `npm run docs` runs it;
 * with `--check` it writes nothing and fails when the file is not up to date.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { downloads } from '@security-optimizer/contract/activity/export';
import { API_NAMESPACE, MAX_BODY_BYTES, PROVIDER_NAMESPACE } from '@security-optimizer/contract/endpoint';
import { endpoints } from '@security-optimizer/contract/endpoints';
import { errorTable } from '@security-optimizer/contract/errors';
import { z } from 'zod';

const target = new URL('../docs/developer/api-reference.md', import.meta.url);

/** One row for each field of an object schema, and one table for each variant of it. */
function fieldTable(schema, io) {
  const json = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return (json.anyOf ?? [json]).map(objectTable).join('\n\nOr:\n\n');
}

function objectTable({ properties = {}, required = [] }) {
  if (Object.keys(properties).length === 0) return 'Nothing.';
  const rows = Object.entries(properties).map(
    ([name, property]) => `| \`${name}\` | ${describe(property)} | ${required.includes(name) ? 'yes' : 'no'} |`,
  );
  return ['| field | value | required |', '| --- | --- | --- |', ...rows].join('\n');
}

function describe(property) {
  if (property.anyOf) return property.anyOf.map(describe).join(', ');
  if (property.enum) return property.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  if (property.const !== undefined) return `\`${JSON.stringify(property.const)}\``;
  if (property.type === 'boolean') return '`true`, `false`';
  if (property.type === 'array') return `list of ${describe(property.items ?? {})}`;
  if (property.type === 'object' && property.properties) {
    const fields = Object.entries(property.properties).map(([name, inner]) => `\`${name}\`: ${describe(inner)}`);
    return `{ ${fields.join('; ')} }`;
  }
  return [property.type ?? 'any'].flat().join(', ');
}

function endpointSection({ name, namespace, suffix, methods, summary, request, response }) {
  return [
    `### ${suffix}`,
    '',
    summary,
    '',
    ...(namespace === 'provider' ? [`Below \`/wp-json/${PROVIDER_NAMESPACE}\`.`, ''] : []),
    `Methods: ${methods.join(', ')}. Request name in the dashboard: \`${name}\`.`,
    '',
    'Request:',
    '',
    fieldTable(request, 'input'),
    '',
    '`data` of the answer:',
    '',
    fieldTable(response, 'output'),
    '',
  ].join('\n');
}

function downloadSection({ name, suffix, summary, request, answer }) {
  return [
    `### ${suffix}`,
    '',
    summary,
    '',
    `Methods: GET. Request name in the dashboard: \`${name}\`.`,
    '',
    'Request:',
    '',
    fieldTable(request, 'input'),
    '',
    `Answer: ${answer}`,
    '',
  ].join('\n');
}

const errors = Object.entries(errorTable)
  .map(([code, { status, message }]) => `| \`${code}\` | ${status} | ${message} |`)
  .join('\n');

const text = `# API reference

Generated from \`packages/contract/src\` by \`npm run docs\`. Do not edit by hand.

## Calls

All calls are below \`/wp-json/${API_NAMESPACE}\` unless it says otherwise, also as \`/?rest_route=/${API_NAMESPACE}/…\`. A slash at the end is
optional. A call needs the WordPress session cookie of an administrator and the header \`X-WP-Nonce\` (action \`wp_rest\`; the
query parameter \`_wpnonce\` does too); WP-CLI signs its calls instead ([connector-protocol.md](connector-protocol.md)). GET takes its values from the query, as PHP reads it
(\`filters[0][wp_name]=ip\`; filters may also stand there as JSON text), the other methods from a JSON body of at most
${MAX_BODY_BYTES / 1024} KB, whatever its Content-Type; an absent body is \`{}\`.

Every answer is \`{ "data": …, "message": "…", "status": 200 }\`; the HTTP status is \`status\`. A refused call has \`data: null\`,
a \`code\`, and for bad input \`fields\`, which names each field and says what is allowed.

${endpoints.map(endpointSection).join('\n')}
## Files

Calls that answer with a file. Who may call, and how a refused call is answered, is the same as above.

${downloads.map(downloadSection).join('\n')}
## Errors

| code | status | message |
| --- | --- | --- |
${errors}
`;

if (process.argv.includes('--check')) {
  const present = await readFile(target, 'utf8').catch(() => '');
  if (present !== text) {
    process.stderr.write('docs/developer/api-reference.md is not up to date. Run `npm run docs`.\n');
    process.exitCode = 1;
  }
} else await writeFile(target, text);
