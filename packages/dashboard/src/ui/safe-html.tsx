import { Fragment, type ReactNode } from 'react';

/** Allowed elements in texts of the server, and in their titles (specification section 9). */
const TEXT_TAGS: ReadonlySet<string> = new Set(['strong', 'a']);
const TITLE_TAGS: ReadonlySet<string> = new Set(['em', 'strong', 'b', 'br', 'span']);

/**
 * A text of the server. `strong` and links are kept; everything else becomes plain text. It is never inserted as HTML.
 */
export function SafeHtml({ text }: { readonly text: string }) {
  return <>{convertText(text, TEXT_TAGS)}</>;
}

/** A title of the server. `em`, `strong`, `b`, `br`, and `span` with its class are kept. */
export function SafeHtmlTitle({ text }: { readonly text: string }) {
  return <>{convertText(text, TITLE_TAGS)}</>;
}

/** Escapes plain text, such as a name, for use as a text of the server. */
export function escapeText(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
}

/** Returns a link of the server, or null if a browser must not follow it. */
export function safeHref(href: string | null): string | null {
  if (href === null) return null;
  try {
    const { protocol } = new URL(href, window.location.href);
    return protocol === 'http:' || protocol === 'https:' || protocol === 'mailto:' ? href : null;
  } catch {
    return null;
  }
}

function convertText(text: string, allowed: ReadonlySet<string>): ReactNode {
  return /[<&]/.test(text) ? convert(new DOMParser().parseFromString(text, 'text/html').body, allowed) : text;
}

function convert(parent: Node, allowed: ReadonlySet<string>): ReactNode {
  return Array.from(parent.childNodes).map((node, index) => {
    const key = index;
    if (node.nodeType === Node.TEXT_NODE) return <Fragment key={key}>{node.textContent}</Fragment>;
    if (!(node instanceof Element)) return null;
    const tag = node.localName;
    if (tag === 'script' || tag === 'style') return null;
    const inner = convert(node, allowed);
    if (!allowed.has(tag)) return <Fragment key={key}>{inner}</Fragment>;
    switch (tag) {
      case 'br':
        return <br key={key} />;
      case 'span':
        return (
          <span key={key} className={node.getAttribute('class') ?? undefined}>
            {inner}
          </span>
        );
      case 'a':
        return link(node, key, inner);
      default: {
        const Tag = tag as 'strong' | 'em' | 'b';
        return <Tag key={key}>{inner}</Tag>;
      }
    }
  });
}

function link(node: Element, key: number, inner: ReactNode): ReactNode {
  const href = safeHref(node.getAttribute('href'));
  if (href === null) return <Fragment key={key}>{inner}</Fragment>;
  return (
    <a key={key} className="so-link" href={href}>
      {inner}
    </a>
  );
}
