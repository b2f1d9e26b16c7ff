import { Fragment, type ReactNode } from 'react';

/** Elements that a text of the server may hold (specification section 9). */
const TEXT_TAGS = new Set(['strong', 'a']);

/**
 * A text that the server supplied. `strong` and links are kept, everything else becomes plain text. Nothing is
 * ever inserted as HTML.
 */
export function ServerText({ text }: { readonly text: string }) {
  if (!/[<&]/.test(text)) return <>{text}</>;
  return <>{convert(new DOMParser().parseFromString(text, 'text/html').body)}</>;
}

function convert(parent: Node): ReactNode {
  return Array.from(parent.childNodes).map((node, index) => {
    const key = index;
    if (node.nodeType === Node.TEXT_NODE) return <Fragment key={key}>{node.textContent}</Fragment>;
    if (!(node instanceof Element)) return null;
    const tag = node.localName;
    if (tag === 'script' || tag === 'style') return null;
    if (!TEXT_TAGS.has(tag)) return <Fragment key={key}>{convert(node)}</Fragment>;
    if (tag === 'strong') return <strong key={key}>{convert(node)}</strong>;
    const href = safeHref(node.getAttribute('href'));
    if (href === null) return <Fragment key={key}>{convert(node)}</Fragment>;
    return (
      <a key={key} className="so-link" href={href}>
        {convert(node)}
      </a>
    );
  });
}

function safeHref(href: string | null): string | null {
  if (href === null) return null;
  try {
    const { protocol } = new URL(href, window.location.href);
    return protocol === 'http:' || protocol === 'https:' || protocol === 'mailto:' ? href : null;
  } catch {
    return null;
  }
}
