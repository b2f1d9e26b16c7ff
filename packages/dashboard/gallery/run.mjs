import { execFileSync, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createServer } from 'vite';

const usage = `npm run gallery                 shows the components and pages for looking at them
npm run gallery -- --check      compares them with the pictures that are kept
npm run gallery -- --accept     keeps the pictures of today; look at the changed files before you commit them
`;

const { values } = parseArgs({
  options: { check: { type: 'boolean' }, accept: { type: 'boolean' }, help: { type: 'boolean' } },
});

if (values.help) process.stdout.write(usage);
else {
  compileTranslations();
  if (values.check || values.accept) takePictures();
  else await show();
}

/** The configuration of Vite is run by Node, which can't read the sources of that package. */
function compileTranslations() {
  const folder = fileURLToPath(new URL('../../translations', import.meta.url));
  execFileSync(process.execPath, [binary('typescript', 'bin/tsc'), '--build', folder], { stdio: 'inherit' });
}

async function show() {
  const server = await createServer({ configFile: fileURLToPath(new URL('vite.config.mjs', import.meta.url)) });
  await server.listen();
  server.printUrls();
}

function takePictures() {
  const child = spawn(
    process.execPath,
    [binary('vitest', 'vitest.mjs'), 'run', '--config', 'vitest.visual.config.ts', '--reporter=dot'],
    {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      env: { ...process.env, ...(values.accept ? { GALLERY_ACCEPT: '1' } : {}) },
      stdio: 'inherit',
    },
  );
  child.once('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}

/** Path of a program in a package. */
function binary(name, path) {
  return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), path);
}
