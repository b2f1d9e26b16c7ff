import type { CSSProperties } from 'react';

/**
 * Looks of the mail: values of the design's tokens, written out in every element, since many mail programs know no
 * style sheet. The sheet adds what only better ones can: narrow windows and dark mode.
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
  humans: '#2a8a72',
  bots: '#8496a4',
  blocked: '#c93a2c',
} as const;

const base: CSSProperties = { fontFamily: FONT };

export const styles = {
  body: { margin: 0, padding: 0, background: colours.page },
  hidden: { display: 'none', maxHeight: 0, overflow: 'hidden' },
  card: {
    width: 600,
    maxWidth: 600,
    background: colours.card,
    border: `1px solid ${colours.line}`,
    borderRadius: 12,
  },
  base,
  brand: { ...base, fontSize: 14, lineHeight: '20px', fontWeight: 600, color: colours.brand },
  small: { ...base, fontSize: 14, lineHeight: '20px', color: colours.soft },
  tiny: { ...base, fontSize: 13, lineHeight: '20px', color: colours.faint },
  h1: { ...base, margin: 0, fontSize: 24, lineHeight: '32px', fontWeight: 600, color: colours.ink },
  h2: { ...base, margin: 0, fontSize: 16, lineHeight: '24px', fontWeight: 600, color: colours.ink },
  lead: { ...base, margin: '8px 0 0', fontSize: 16, lineHeight: '24px', color: colours.soft },
  figure: { ...base, padding: '16px 20px', border: `1px solid ${colours.line}` },
  figureValue: { fontSize: 24, lineHeight: '30px', fontWeight: 600, color: colours.ink },
  mono: { fontFamily: 'Menlo, Consolas, monospace', fontSize: 13, lineHeight: '20px', color: colours.ink },
  panel: { background: colours.panel, border: `1px solid ${colours.panelLine}`, borderRadius: 8 },
  button: {
    ...base,
    display: 'inline-block',
    padding: '12px 20px',
    background: colours.brand,
    borderRadius: 8,
    fontSize: 14,
    lineHeight: '20px',
    fontWeight: 600,
    color: '#ffffff',
    textDecoration: 'none',
  },
} as const satisfies Record<string, CSSProperties>;

/** Classes that the sheet turns; each stands beside the inline style that it replaces. */
export const sheet = `
:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (max-width:620px){
.card{width:100%!important}
.pad{padding-left:20px!important;padding-right:20px!important}
}
@media (max-width:480px){
.half td{display:block!important;width:auto!important;margin-top:-1px}
}
@media (prefers-color-scheme:dark){
.page{background:#10171b!important}
.card,.figure{background:#1a242a!important;border-color:#35434c!important}
.edge{border-color:#35434c!important}
.seam{border-color:#1a242a!important}
.ink{color:#eef3f5!important}
.soft,.faint{color:#b3c0c8!important}
.brand{color:#62cdb0!important}
.panel{background:#16302a!important;border-color:#2f5e51!important}
.button{background:#62cdb0!important;color:#0c1f1a!important}
.humans{background:#46b595!important}
.bots{background:#8fa1ae!important}
.blocked{background:#ef7d71!important}
.humans-ink{color:#46b595!important}
.bots-ink{color:#8fa1ae!important}
.blocked-ink{color:#ef7d71!important}
}`.replaceAll('\n', '');
