import { render } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { SafeHtml, SafeHtmlTitle } from './safe-html.js';

function html(text: string): string {
  return render(<SafeHtml text={text} />).container.innerHTML;
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

describe('a title of the server', () => {
  it('keeps em, strong, b, br and span with its class', () => {
    const title = '<em>a</em><strong>b</strong><b>c</b><br><span class="so-mono" style="top:0">d</span>';
    expect(render(<SafeHtmlTitle text={title} />).container.innerHTML).toBe(
      '<em>a</em><strong>b</strong><b>c</b><br><span class="so-mono">d</span>',
    );
  });

  it('turns links and everything else into plain text', () => {
    const title = '<a href="https://example.com">a</a><img src=x onerror=alert(1)><p>b</p>';
    expect(render(<SafeHtmlTitle text={title} />).container.innerHTML).toBe('ab');
  });
});
