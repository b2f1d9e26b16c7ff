import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const resolve = createRequire(import.meta.url).resolve;
const program = resolve('@security-optimizer/guard/program/security-optimizer');
const guardPackage = join(dirname(program), '../..');
const packages = join(guardPackage, '..');

/** Migrations before which those of a release are inserted: one of the settings, and one of the Activity Log. */
const PLACES = ['"023_attempt_accounts": {', '"001_activity": {'];

/**
 * Releases of guard in separate folders, and the link `current` to the one that starts next, as the operations guide
 * describes it. Each release has another version and one table more in both databases than the one before.
 */
export class Releases {
  #number = 0;

  constructor(private readonly dir: string) {
    mkdirSync(join(dir, 'releases'), { recursive: true });
    this.upgrade();
  }

  /** The command line of the release to which the link points. */
  get program(): string {
    return join(this.dir, 'current/node_modules/@security-optimizer/guard/dist/program/security-optimizer.js');
  }

  /** Version of the newest release. */
  get version(): string {
    return `0.1.${this.#number}`;
  }

  /** Adds a release and switches the link to it. */
  upgrade(): void {
    this.#number++;
    const release = join(this.dir, 'releases', this.version);
    const modules = join(release, 'node_modules');
    const guard = join(modules, '@security-optimizer/guard');
    cpSync(dirname(program), join(guard, 'dist/program'), {
      recursive: true,
      filter: (path) => !path.endsWith('.map'),
    });
    const description = JSON.parse(readFileSync(join(guardPackage, 'package.json'), 'utf8'));
    writeFileSync(join(guard, 'package.json'), JSON.stringify({ ...description, version: this.version }));
    for (const name of ['connector', 'dashboard']) {
      symlinkSync(join(packages, name), join(modules, '@security-optimizer', name));
    }
    const addOn = join(packages, '../node_modules/@photostructure');
    if (existsSync(addOn)) symlinkSync(addOn, join(modules, '@photostructure'));
    this.#addMigrations(join(guard, 'dist/program/guard.js'));
    symlinkSync(`releases/${this.version}`, join(this.dir, 'next'));
    // In one step, so that the link always exists.
    renameSync(join(this.dir, 'next'), join(this.dir, 'current'));
  }

  #addMigrations(file: string): void {
    let text = readFileSync(file, 'utf8');
    for (const place of PLACES) {
      if (text.split(place).length !== 2) throw new Error(`${file} does not contain ${place} exactly once.`);
      let added = '';
      for (let number = 2; number <= this.#number; number++) {
        const table = `db.schema.createTable("release_${number}").addColumn("id", "integer").execute()`;
        added += `"9${String(number).padStart(3, '0')}_release": { async up(db) { await ${table}; } },\n`;
      }
      text = text.replace(place, () => `${added}${place}`);
    }
    writeFileSync(file, text);
  }
}
