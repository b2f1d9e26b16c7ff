import { mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './lib/build.mjs';
import { installPackages } from './lib/install.mjs';
import { requireNode } from './lib/require-node.mjs';
import { root } from './lib/run.mjs';

const usage = `npm run package                       the npm package, security-optimizer-<version>.tgz
npm run package -- --deb              and the Debian package, security-optimizer_<version>_<arch>.deb
npm run package -- --arch arm64       the Debian package for another processor: amd64, arm64
npm run package -- --version 0.2.0    another version than the one in package.json
npm run package -- --to FOLDER        another folder than .cache/packages
npm run package -- --quick            the Debian package packed quickly and large, for tests
`;

requireNode();
const { values } = parseArgs({
  options: {
    deb: { type: 'boolean', default: false },
    arch: { type: 'string' },
    version: { type: 'string' },
    to: { type: 'string', default: join(root, '.cache/packages') },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}
try {
  await installPackages();
  await build();
  // They need packages, which may have been missing until now.
  const { makeNpmPackage } = await import('./lib/package/npm-package.mjs');
  mkdirSync(values.to, { recursive: true });
  const made = [await makeNpmPackage({ to: values.to, version: values.version })];
  if (values.deb) {
    const { makeDebianPackage } = await import('./lib/package/debian-package.mjs');
    made.push(await makeDebianPackage({ ...values, npmPackage: made[0] }));
  }
  for (const { file, bytes } of made) {
    process.stdout.write(`${relative(process.cwd(), file)}  ${(bytes / 1e6).toFixed(2)} MB\n`);
  }
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
