import { spawnSync } from 'node:child_process';
import vectors from '@security-optimizer/connector/protocol-vectors.json' with { type: 'json' };
import { describe, expect, it } from 'vitest';
import { secretPhp, toKeyFileName } from './connector-secret.js';

const hasPhp = spawnSync('php', ['-v']).status === 0;

describe('a key file', () => {
  it.each(vectors.keyFiles)('has the name that the connector computes: $wordpressDir', ({ wordpressDir, file }) => {
    expect(toKeyFileName(wordpressDir)).toBe(file);
  });

  it.skipIf(!hasPhp)('executes no code from a folder’s name, and is valid for that folder alone', () => {
    const key = { secret: 'a'.repeat(64), requireGuard: true };
    const names = ["/srv/it's", '/srv/\\', "/srv/\\'; echo 1; //", '/srv/?><?php echo 1;', '/srv/a\nb'];
    for (const onlyFor of names) {
      for (const path of [onlyFor, '/srv/other']) {
        const code = `namespace Test; const ABSPATH = ''; function realpath() { return base64_decode( '${Buffer.from(path).toString('base64')}' ); }
          echo json_encode( ( static function () { ${secretPhp({ ...key, onlyFor }).replace('<?php', '')} } )() );`;
        const { stdout } = spawnSync('php', ['-r', code], { encoding: 'utf8' });
        expect([path, JSON.parse(stdout)?.secret]).toEqual([path, path === onlyFor ? key.secret : undefined]);
      }
    }
  });
});
