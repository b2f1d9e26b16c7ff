import { execFileSync, spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PhpQuery } from './request-facts.js';

describe('query parameters as PHP sees them', () => {
  it.each([
    ['feed=rss2', 'feed', ['rss2']],
    ['feed', 'feed', ['']],
    ['%66eed=%72ss2', 'feed', ['rss2']],
    ['+%20feed=a', 'feed', ['a']],
    ['rest.route=/a', 'rest_route', ['/a']],
    ['rest+route=/a', 'rest_route', ['/a']],
    ['rest[route=/a', 'rest_route', ['/a']],
    ['rest%5Broute=/a', 'rest_route', ['/a']],
    ['feed[]=a&feed[x][y]=b', 'feed', ['a', 'b']],
    ['feed%5b%5d=a', 'feed', ['a']],
    ['feed%00x=a', 'feed', ['a']],
    ['feed=a&feed=b', 'feed', ['a', 'b']],
    ['feed=a=b', 'feed', ['a=b']],
    ['feed=%zz%4', 'feed', ['%zz%4']],
    ['feed=a+b%2Bc', 'feed', ['a b+c']],
    ['&&feed=a&', 'feed', ['a']],
    ['[feed=a', 'feed', []],
    ['Feed=a', 'feed', []],
    ['a?feed=b', 'feed', []],
  ])('%s', (query, name, values) => {
    expect(new PhpQuery(query).all(name)).toEqual(values);
  });

  it('are ambiguous when one name has two values, in any spelling', () => {
    expect(new PhpQuery('rest_route=/a&rest.route=/b').isAmbiguous('rest_route')).toBe(true);
    expect(new PhpQuery('rest_route=/a&rest_route=/a').isAmbiguous('rest_route')).toBe(false);
    expect(new PhpQuery('rest_route=/a').isAmbiguous('rest_route')).toBe(false);
  });

  it('are counted, since PHP stops reading at a limit', () => {
    expect(new PhpQuery(`feed=rss2${'&a'.repeat(1500)}&feed=`).count).toBe(1502);
  });
});

const php = spawnSync('php', ['-v']).status === 0;

describe.runIf(php)('compared with PHP itself', () => {
  it('has the same names as PHP, and its values include the one that PHP uses', () => {
    const name = fc.string({ unit: fc.constantFrom(...'ab[]. +_%5B%5D%00%2e%20='.split('')), maxLength: 9 });
    const pair = fc
      .tuple(name, fc.string({ unit: fc.constantFrom(...'xy+%41%'.split('')), maxLength: 4 }))
      .map(([n, v]) => `${n}=${v}`);
    const queries = fc
      .sample(fc.array(pair, { minLength: 1, maxLength: 3 }), { numRuns: 4000, seed: 7 })
      .map((pairs) => pairs.join('&'));
    const code =
      '$o=[];foreach(json_decode(stream_get_contents(STDIN))as$q){$r=[];parse_str($q,$p);foreach($p as$k=>$v){' +
      '$l=[];array_walk_recursive($p[$k],function($x)use(&$l){$l[]=$x;});' +
      '$r[]=[bin2hex((string)$k),is_array($v)?array_map("bin2hex",$l):[bin2hex($v)]];}$o[]=$r;}echo json_encode($o);';
    const script = code.replace('array_walk_recursive($p[$k],', 'if(is_array($v))array_walk_recursive($p[$k],');
    const output = execFileSync('php', ['-r', script], { input: JSON.stringify(queries), maxBuffer: 1 << 26 });
    const seen = JSON.parse(output.toString()) as [string, string[]][][];
    const text = (hex: string): string => Buffer.from(hex, 'hex').toString('utf8');
    for (const [i, query] of queries.entries()) {
      const parsed = new PhpQuery(query);
      for (const [key, values] of seen[i] ?? []) {
        const given = parsed.all(text(key));
        expect([query, text(key), given.length]).not.toEqual([query, text(key), 0]);
        for (const value of values) expect([query, given]).toEqual([query, expect.arrayContaining([text(value)])]);
      }
    }
  });
});
