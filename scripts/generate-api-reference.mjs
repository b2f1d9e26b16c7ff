/**
 * Writes docs/developer/api-reference.md from the contract: every endpoint, its request and its response. `npm run docs`
 * runs it. With `--check` it writes nothing and fails if the file is not up to date.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { downloads } from '@security-optimizer/contract/activity/endpoints';
import { downloadRequests } from '@security-optimizer/contract/activity/requests';
import { API_NAMESPACE, MAX_BODY_BYTES, PROVIDER_NAMESPACE } from '@security-optimizer/contract/endpoint';
import { endpoints } from '@security-optimizer/contract/endpoints';
import { errorTable } from '@security-optimizer/contract/errors';
import { requests } from '@security-optimizer/contract/requests';
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

function endpointSection({ name, namespace, suffix, methods, response }) {
  const { summary, schema } = requests[name];
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
    fieldTable(schema, 'input'),
    '',
    '`data` of the response:',
    '',
    fieldTable(response, 'output'),
    '',
  ].join('\n');
}

function downloadSection({ name, suffix }) {
  const { summary, schema, content } = downloadRequests[name];
  return [
    `### ${suffix}`,
    '',
    summary,
    '',
    `Methods: GET. Request name in the dashboard: \`${name}\`.`,
    '',
    'Request:',
    '',
    fieldTable(schema, 'input'),
    '',
    `Response: ${content}`,
    '',
  ].join('\n');
}

const errors = Object.entries(errorTable)
  .map(([code, { status, message }]) => `| \`${code}\` | ${status} | ${message} |`)
  .join('\n');

const text = `# API reference

Generated from \`packages/contract/src\` by \`npm run docs\`. Do not edit by hand.

## Requests and responses

**URLs.** All endpoints are below \`/wp-json/${API_NAMESPACE}\`, unless stated otherwise. The form
\`/?rest_route=/${API_NAMESPACE}/…\` works too. A slash at the end is optional.

**Authentication.** A request needs the WordPress session cookie of an administrator, and a nonce for the action
\`wp_rest\` in the header \`X-WP-Nonce\` or the query parameter \`_wpnonce\`. WP-CLI signs its requests instead
([connector-protocol.md](connector-protocol.md)).

**Input.** GET reads its values from the query, in PHP's format (\`filters[0][wp_name]=ip\`); filters may also be JSON
text. Other methods read a JSON body of at most ${MAX_BODY_BYTES / 1024} KB, whatever its Content-Type. An absent body counts as \`{}\`.

**Responses.** A response is \`{ "data": …, "message": "…", "status": 200 }\`; \`status\` equals the HTTP status. The
response to a refused request has \`data: null\` and a \`code\`. For invalid input it also has \`fields\`, which names each
invalid field and the allowed values.

## Endpoints

${endpoints.map(endpointSection).join('\n')}
## Files

Endpoints that respond with a file. Authentication and the responses to refused requests are the same as above.

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
