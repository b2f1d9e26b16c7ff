import { describe, expect, it } from 'vitest';
import { formatConfigFile, replaceSiteUrl } from './config-file.js';

const sqlite = { kind: 'sqlite', dir: "/srv/o'neil\\data", file: '.ht.sqlite' } as const;

describe('wp-config.php', () => {
  it('escapes values for PHP', () => {
    expect(formatConfigFile(sqlite, 'http://example.com')).toContain("define( 'DB_DIR', '/srv/o\\'neil\\\\data' );");
  });

  it('has eight different salts of 64 characters', () => {
    const text = formatConfigFile(sqlite, 'http://example.com');
    const salts = [...text.matchAll(/define\( '[A-Z_]+_(?:KEY|SALT)', '(.{64})' \);/g)].map((match) => match[1]);
    expect(new Set(salts).size).toBe(8);
  });

  it('gets another address without losing what others wrote into it', () => {
    const before = formatConfigFile(sqlite, 'http://127.0.0.1:8080').replace(
      '<?php',
      "<?php\ndefine( 'WP_CACHE', true );",
    );
    const after = replaceSiteUrl(before, "http://example.com/$&'");
    expect(after).toContain("define( 'WP_HOME', 'http://example.com/$&\\'' );");
    expect(after).toContain("define( 'WP_SITEURL', 'http://example.com/$&\\'' );");
    expect(after.replaceAll("http://example.com/$&\\'", 'http://127.0.0.1:8080')).toBe(before);
  });

  it('without the lines for the address is not silently left at the old one', () => {
    expect(() => replaceSiteUrl('<?php\n', 'http://example.com')).toThrow('no line for WP_HOME');
  });
});
