import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseSync } from 'vite';

const FILE = 'packages/contract/src/server-messages.ts';

/**
 * Reads the texts of the server that are sent as code and parameters.
 *
 * @param {string} root folder of the repository
 * @returns {Promise<{ code: string, text: string, plural: string | null }[]>}
 * @throws {Error} when a text of the table is not a literal
 */
export async function readMessageCodes(root) {
  const { program, errors } = parseSync(FILE, await readFile(join(root, FILE), 'utf8'));
  if (errors.length > 0) throw new Error(`${FILE}: ${errors[0].message}`);
  const table = program.body
    .flatMap(({ declaration }) => declaration?.declarations ?? [])
    .find(({ id }) => id.name === 'serverMessages');
  return members(table.init).map(({ key, value }) => {
    const forms =
      value.type === 'Literal'
        ? { one: value }
        : Object.fromEntries(members(value).map((form) => [form.key.name, form.value]));
    const [text, plural] = [forms.one, forms.other].map((form) => form?.value ?? null);
    if (typeof text !== 'string') throw new Error(`${FILE}: write out the text of ${key.name}.`);
    return { code: key.name, text, plural };
  });
}

/** The properties of an object, also under `as const satisfies …`. */
function members(node) {
  return node.type === 'ObjectExpression' ? node.properties : members(node.expression);
}
