import { render } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { ServerText } from './server-text.js';

function html(text: string): string {
  return render(<ServerText text={text} />).container.innerHTML;
}

describe('a text of the server', () => {
  it('keeps strong and links', () => {
    expect(html('See <strong>this</strong> <a href="https://example.com/x" onclick="a()">page</a>.')).toBe(
      'See <strong>this</strong> <a class="so-link" href="https://example.com/x">page</a>.',
    );
  });

  it.each([
    ['<img src=x onerror=alert(1)>Text', 'Text'],
    ['<script>alert(1)</script>Text', 'Text'],
    ['<a href="javascript:alert(1)">Text</a>', 'Text'],
    ['<em>Text</em> &amp; more', 'Text &amp; more'],
    ['1 < 2', '1 &lt; 2'],
  ])('turns %j into plain text', (text, expected) => {
    expect(html(text)).toBe(expected);
  });
});
