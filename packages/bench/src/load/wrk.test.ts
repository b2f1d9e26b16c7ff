import { describe, expect, it } from 'vitest';
import { parseResult } from './wrk.js';

describe("wrk's output", () => {
  it('is parsed from the line that the Lua script prints', () => {
    const output =
      'Running 1s test\n  8 requests in 1.00s\n\nRESULT {"requests":8,"microseconds":1000000,"p50":120,"p99":900,"refused":8,"broken":0}\n';
    expect(parseResult(output)).toEqual({ requests: 8, microseconds: 1e6, p50: 120, p99: 900, refused: 8, broken: 0 });
  });
  it('without that line is an error', () => {
    expect(() => parseResult('unable to connect to 127.0.0.1:1 Connection refused\n')).toThrow('unable to connect');
  });
});
