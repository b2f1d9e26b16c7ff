import type { CSSProperties } from 'react';

/**
 * Styles of mails: values of the design's tokens, set on every element, since many mail clients ignore style sheets.
 * The sheets add what only better clients support: narrow windows and dark mode.
 */
const FONT = "-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";

export const colours = {
  page: '#f0f0f1',
  card: '#ffffff',
  line: '#dde3e6',
  hair: '#e9edef',
  ink: '#14212a',
  soft: '#4f5e68',
  faint: '#5f6d77',
  brand: '#0a6a56',
  panel: '#f3f9f6',
  panelLine: '#bcdcd2',
  warn: '#fff9ec',
  warnLine: '#efd6a2',
  humans: '#2a8a72',
  bots: '#8496a4',
  blocked: '#c93a2c',
} as const;

/** Width of the card, pixels. Outlook supports widths only as attributes. */
export const CARD_WIDTH = 600;

/** Set everywhere: otherwise Word, which renders the mails of Outlook, uses a serif font and margins of its own. */
const plain: CSSProperties = { margin: 0, fontFamily: FONT };

export const styles = {
  body: { margin: 0, padding: 0, backgroundColor: colours.page },
  page: { padding: '32px 12px' },
  card: {
    width: CARD_WIDTH,
    maxWidth: CARD_WIDTH,
    backgroundColor: colours.card,
    border: `1px solid ${colours.line}`,
    borderRadius: 12,
  },
  brand: { ...plain, fontSize: 14, lineHeight: '20px', fontWeight: 600, color: colours.brand },
  small: { ...plain, fontSize: 14, lineHeight: '20px', color: colours.soft },
  tiny: { ...plain, fontSize: 13, lineHeight: '20px', color: colours.faint },
  h1: { ...plain, fontSize: 24, lineHeight: '32px', fontWeight: 600, color: colours.ink },
  h2: { ...plain, fontSize: 16, lineHeight: '24px', fontWeight: 600, color: colours.ink },
  lead: { ...plain, margin: '8px 0 0', fontSize: 16, lineHeight: '24px', color: colours.soft },
  figure: { padding: '16px 20px', border: `1px solid ${colours.line}` },
  figureValue: { ...plain, fontSize: 24, lineHeight: '30px', fontWeight: 600, color: colours.ink },
  mono: { fontFamily: 'Menlo, Consolas, monospace', fontSize: 13, lineHeight: '20px', color: colours.ink },
  panel: { backgroundColor: colours.panel, border: `1px solid ${colours.panelLine}`, borderRadius: 8 },
  warnPanel: { backgroundColor: colours.warn, border: `1px solid ${colours.warnLine}`, borderRadius: 8 },
  /** For numbers and names in lists. Word needs the colour on the link itself. */
  quietLink: { color: colours.ink, textDecoration: 'underline' },
  link: { color: colours.brand, textDecoration: 'underline', whiteSpace: 'nowrap' },
  button: {
    ...plain,
    backgroundColor: colours.brand,
    borderRadius: 8,
    fontSize: 14,
    lineHeight: '20px',
    fontWeight: 600,
    color: '#ffffff',
  },
} as const satisfies Record<string, CSSProperties>;

/** For narrow windows. Its classes are set in addition to the inline styles that they replace. */
export const narrowSheet = `
@media (max-width:620px){
.card{width:100%!important}
.pad{padding-left:20px!important;padding-right:20px!important}
}
@media (max-width:480px){
.figure{display:block!important;width:auto!important;margin-top:-1px}
}`.replaceAll('\n', '');

/** For dark mode. A separate sheet, because Gmail ignores a whole sheet when it does not support a part of it. */
export const darkSheet = `
:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (prefers-color-scheme:dark){
.page,.page>table>tbody>tr>td{background-color:#10171b!important}
.card{background-color:#1a242a!important;border-color:#35434c!important}
.figure,.edge{border-color:#35434c!important}
.seam{border-color:#1a242a!important}
.ink{color:#eef3f5!important}
.soft,.faint{color:#b3c0c8!important}
.brand{color:#62cdb0!important}
.panel{background-color:#16302a!important;border-color:#2f5e51!important}
.warn{background-color:#33290f!important;border-color:#6b5420!important}
.button{background-color:#62cdb0!important;color:#0c1f1a!important}
.humans{background-color:#46b595!important}
.bots{background-color:#8fa1ae!important}
.blocked{background-color:#ef7d71!important}
.humans-ink{color:#46b595!important}
.bots-ink{color:#8fa1ae!important}
.blocked-ink{color:#ef7d71!important}
}`.replaceAll('\n', '');
