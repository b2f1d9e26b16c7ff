// Loaded before guard's program, in each of its threads. For every connection it records the content of each commit of
// a database, and how durable it is when it is acknowledged.
import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

const END = /^\s*(?:commit|end)\b/i;
const CHANGE =
  /^\s*(?:insert|update|delete|replace|create|alter|drop)\b.*?\b(?:into|update|from|table|index)\s+(?:if (?:not )?exists\s+)?"?(\w+)/is;
const UPDATE = /^\s*update\s+(?:or \w+\s+)?"?(\w+)/i;

const recording = (DatabaseSync) =>
  class extends DatabaseSync {
    #tables = new Set();

    /** Must be called before a statement runs. */
    #note(sql) {
      const table = (UPDATE.exec(sql) ?? CHANGE.exec(sql))?.[1];
      if (table !== undefined) this.#tables.add(table);
      else if (!END.test(sql)) return;
      // Outside a transaction each change is a separate commit.
      if (this.isTransaction && !END.test(sql)) return;
      const { synchronous } = super.prepare('pragma synchronous').get();
      const line = { file: basename(this.location()), synchronous, tables: [...this.#tables] };
      this.#tables.clear();
      appendFileSync(join(process.env.RECORD_COMMITS, String(process.pid)), `${JSON.stringify(line)}\n`);
    }

    exec(sql) {
      if (/^\s*(?:begin|rollback)\b/i.test(sql)) this.#tables.clear();
      this.#note(sql);
      return super.exec(sql);
    }

    prepare(sql) {
      const statement = super.prepare(sql);
      for (const name of ['run', 'all', 'get']) {
        const original = statement[name];
        const value = (...parameters) => {
          this.#note(sql);
          return original.apply(statement, parameters);
        };
        Object.defineProperty(statement, name, { value });
      }
      return statement;
    }
  };

// Its warning would be written to guard's log.
const { emitWarning } = process;
process.emitWarning = () => undefined;
const node = process.getBuiltinModule('node:sqlite');
process.emitWarning = emitWarning;
if (node) node.DatabaseSync = recording(node.DatabaseSync);
// The classes of the add-on can't be changed, so others replace them in the native part before it is loaded.
const require = createRequire(import.meta.url);
const binding = require('node-gyp-build')(dirname(require.resolve('@photostructure/sqlite/package.json')));
binding.DatabaseSync = recording(binding.DatabaseSync);
