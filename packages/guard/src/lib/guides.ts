import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of the guides in a checkout, and in the npm package. */
const FOLDER = 'docs/operator';
/** Folder in which the Debian package has them, below `/usr`. */
const SHARED_FOLDER = 'share/doc/security-optimizer';

/**
 * Where people find a guide for operators: the path of the installed file. In a checkout, and where the documents were
 * left out of an installation, it is the path in the project.
 *
 * @param name for example `operations.md`
 * @param from the running program
 */
export function guideFile(name: string, from = fileURLToPath(import.meta.url)): string {
  const inProject = `${FOLDER}/${name}`;
  for (let folder = dirname(from); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, inProject))) {
      return existsSync(join(folder, 'packages')) ? inProject : join(folder, inProject);
    }
    const shared = join(folder, SHARED_FOLDER, name);
    if (existsSync(shared)) return shared;
  }
  return inProject;
}
