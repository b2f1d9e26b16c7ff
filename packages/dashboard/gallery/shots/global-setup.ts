import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, preview } from 'vite';
import type { TestProject } from 'vitest/node';
import { differences } from './baselines.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the built gallery, with a slash at the end. */
    galleryOrigin: string;
  }
}

const configFile = fileURLToPath(new URL('../vite.config.mjs', import.meta.url));

/** Builds the gallery and serves it while pictures are captured. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  rmSync(differences, { recursive: true, force: true });
  await buildGallery();
  const server = await preview({ configFile, logLevel: 'warn', preview: { port: 0, host: '127.0.0.1' } });
  project.provide('galleryOrigin', server.resolvedUrls?.local[0] ?? '');
  return () => server.close();
}

/** The test runner sets NODE_ENV to `test`, for which React's development version would be bundled. */
async function buildGallery(): Promise<void> {
  const before = process.env.NODE_ENV;
  process.env.NODE_ENV = 'production';
  await build({ configFile, logLevel: 'error' });
  process.env.NODE_ENV = before;
}
