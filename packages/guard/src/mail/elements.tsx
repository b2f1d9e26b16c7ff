import type { CSSProperties, ReactNode } from 'react';

/**
 * Elements that every mail client renders alike: tables and inline styles. Word, which renders the mails of Outlook,
 * supports neither widths in style sheets nor padding of tables, so widths are attributes and cells have the padding.
 */

interface ElementProps {
  readonly className?: string;
  readonly style?: CSSProperties;
  readonly children: ReactNode;
}

const TABLE = { border: 0, cellPadding: '0', cellSpacing: '0', role: 'presentation' } as const;

/** A mail as an HTML document. `style.backgroundColor` fills the window; margin and padding apply to the cell. */
export function MailDocument(props: {
  readonly lang: string;
  readonly dir: 'ltr' | 'rtl';
  /** The text next to the subject in a list of mails. */
  readonly preview: string;
  readonly head: ReactNode;
  readonly className: string;
  readonly style: CSSProperties;
  readonly children: ReactNode;
}): ReactNode {
  const { lang, dir, preview, head, className, style, children } = props;
  return (
    <html dir={dir} lang={lang}>
      <head>
        <meta content="text/html; charset=UTF-8" httpEquiv="Content-Type" />
        {/* Without this, Apple Mail on phones changes font sizes. */}
        <meta name="x-apple-disable-message-reformatting" />
        {head}
      </head>
      <body className={className} style={{ backgroundColor: style.backgroundColor, margin: 0, padding: 0 }}>
        {/* Some clients remove the body; the cell stays. */}
        <table align="center" width="100%" {...TABLE}>
          <tbody>
            <tr>
              <td style={style}>
                <Preview text={preview} />
                {children}
              </td>
            </tr>
          </tbody>
        </table>
      </body>
    </html>
  );
}

const PREVIEW_CHARACTERS = 150;
/**
 * Spaces of several kinds, because clients collapse those of one kind. They keep the mail's first words out of the
 * preview.
 */
const BLANKS = '\u00a0\u200c\u200b\u200d\u200e\u200f\ufeff';

function Preview({ text }: { readonly text: string }): ReactNode {
  const shown = text.slice(0, PREVIEW_CHARACTERS);
  const style = { display: 'none', overflow: 'hidden', lineHeight: '1px', opacity: 0, maxHeight: 0, maxWidth: 0 };
  return (
    <div style={style}>
      {shown}
      {shown.length < PREVIEW_CHARACTERS && <div>{BLANKS.repeat(PREVIEW_CHARACTERS - shown.length)}</div>}
    </div>
  );
}

/** A column of a fixed width in the middle of the window, in pixels. */
export function Container(
  props: ElementProps & { readonly width: number; readonly lang: string; readonly dir: 'ltr' | 'rtl' },
): ReactNode {
  const { width, className, lang, dir, style, children } = props;
  return (
    <table align="center" width={width} className={className} lang={lang} dir={dir} {...TABLE} style={style}>
      <tbody>
        <tr>
          <td>{children}</td>
        </tr>
      </tbody>
    </table>
  );
}

/** A row of cells over the whole width. It is a separate table, since rows of one table share their cell widths. */
export function Row({ className, style, children }: ElementProps): ReactNode {
  return (
    <table align="center" width="100%" {...TABLE} className={className} style={style}>
      <tbody style={{ width: '100%' }}>
        <tr style={{ width: '100%' }}>{children}</tr>
      </tbody>
    </table>
  );
}

/**
 * A link that looks like a button. Word ignores the padding of links: for it, wide spaces are added on both sides, and
 * the text is raised by the bottom padding.
 */
export function Button(
  props: ElementProps & {
    readonly href: string;
    /** Pixels, above and below, left and right. */
    readonly padding: { readonly y: number; readonly x: number };
  },
): ReactNode {
  const { href, className, style, padding, children } = props;
  const { y, x } = padding;
  // Word widens a space by at most 500 %, which makes it ten pixels wide.
  const blanks = Math.ceil(x / 10);
  const widthPercent = (x / blanks / 2) * 100;
  const wordOnly = (attributes: string, end = '') =>
    `<!--[if mso]><i style="mso-font-width:${widthPercent}%${attributes}" hidden>${'&#8202;'.repeat(blanks)}${end}</i><![endif]-->`;
  const link = {
    textDecoration: 'none',
    display: 'inline-block',
    maxWidth: '100%',
    msoPaddingAlt: '0px',
    ...style,
    padding: `${y}px ${x}px`,
  };
  const text = {
    maxWidth: '100%',
    display: 'inline-block',
    lineHeight: '120%',
    msoPaddingAlt: '0px',
    msoTextRaise: toPoints(y),
  };
  return (
    <a href={href} className={className} style={link} target="_blank" rel="noopener">
      <Verbatim html={wordOnly(`;mso-text-raise:${toPoints(2 * y)}`)} />
      <span style={text}>{children}</span>
      <Verbatim html={wordOnly('', '&#8203;')} />
    </a>
  );
}

function Verbatim({ html }: { readonly html: string }): ReactNode {
  // biome-ignore lint/security/noDangerouslySetInnerHtml: comments for Word, made of numbers alone
  return <span dangerouslySetInnerHTML={{ __html: html }} />;
}

function toPoints(pixels: number): number {
  return (pixels * 3) / 4;
}
