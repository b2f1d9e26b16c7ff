import { type DefaultTreeAdapterMap, parse } from 'parse5';

/** An element of a mail, as a mail program parses it. */
export interface MailElement {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Its own declarations. */
  readonly style: ReadonlyMap<string, string>;
  /** The element and its ancestors, innermost first. */
  readonly path: readonly MailElement[];
  /** Its own texts, without those of child elements and without pure white space. */
  readonly texts: readonly string[];
}

/** All elements of a page in order, and the style sheets in its head. */
export function mailElements(html: string): MailElement[] {
  const elements: MailElement[] = [];
  visit(parse(html), []);
  return elements;

  function visit(node: DefaultTreeAdapterMap['node'], around: readonly MailElement[]): void {
    if (!('childNodes' in node)) return;
    let path = around;
    if ('tagName' in node) {
      const attributes = Object.fromEntries(node.attrs.map(({ name, value }) => [name, value]));
      const texts = node.childNodes.flatMap((child) =>
        'value' in child && /\S/.test(child.value) ? [child.value] : [],
      );
      const element = { tag: node.tagName, attributes, style: declarations(attributes.style ?? ''), texts };
      const root = Object.assign(element, { path: [] as readonly MailElement[] });
      path = [root, ...around];
      root.path = path;
      elements.push(root);
    }
    for (const child of node.childNodes) visit(child, path);
  }
}

function declarations(style: string): Map<string, string> {
  return new Map(
    style
      .split(';')
      .filter((declaration) => declaration !== '')
      .map((declaration) => {
        const colon = declaration.indexOf(':');
        return [declaration.slice(0, colon), declaration.slice(colon + 1)] as const;
      }),
  );
}
