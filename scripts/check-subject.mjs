/**
 * Checks the subject of a commit: at most 72 characters, followed by an empty line. `scripts/git-hooks/commit-msg`
 * calls it with the file of a new message; `npm test` calls it without one, for the newest commit that is not a merge.
 * Older history is not checked.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const LONGEST = 72;
const [subject = '', second = ''] = readMessage(process.argv[2]).split('\n');
const merge = /^(?:Merge|Revert|fixup!|squash!) /.test(subject);
if (!merge && ([...subject].length > LONGEST || second.trim() !== '')) {
  process.stderr.write(
    `A commit's subject has at most ${LONGEST} characters, then an empty line; why goes below:\n${subject}\n`,
  );
  process.exitCode = 1;
}

function readMessage(file) {
  if (file !== undefined) return readFileSync(file, 'utf8');
  try {
    return execFileSync('git', ['log', '-1', '--no-merges', '--format=%B'], { encoding: 'utf8', stdio: 'pipe' });
  } catch {
    // An archive of the sources has no history.
    return '';
  }
}
