/**
 * Styles of every page for visitors. The values of the design's tokens are written out, since these pages load no other
 * file.
 */
export const visitorStyles = `
html,body{min-height:100%;margin:0;background:#f4f6f6}
.so-front{display:flex;flex-direction:column;align-items:center;box-sizing:border-box;min-height:100vh;padding:10vh 16px 40px;color:#14212a;font:14px/20px -apple-system,BlinkMacSystemFont,"Segoe UI",Roboto,Oxygen-Sans,Ubuntu,Cantarell,"Helvetica Neue",sans-serif;-webkit-font-smoothing:antialiased}
.so-front *{box-sizing:border-box}
.so-front p,.so-front h1,.so-front dl,.so-front dd{margin:0}
.so-front__site{display:flex;align-items:center;max-width:100%;color:#4f5e68;font-weight:600;word-break:break-all}
.so-front .so-front__site{margin-bottom:24px}
.so-front__site i{display:flex;flex:none;align-items:center;justify-content:center;width:28px;height:28px;margin-right:10px;color:#fff;background:#14212a;border-radius:8px;font-style:normal;font-size:13px}
.so-front__card{width:100%;max-width:440px;padding:36px;background:#fff;border:1px solid #dde3e6;border-radius:16px;box-shadow:0 1px 2px rgba(16,32,40,.05),0 12px 32px rgba(16,32,40,.06)}
.so-tile{display:flex;align-items:center;justify-content:center;width:48px;height:48px;margin-bottom:20px;border-radius:12px;color:#4f5e68;background:#eceff0}
.so-tile--danger{color:#b42318;background:#fdeceb}
.so-tile--warn{color:#7a4a00;background:#fff4dd}
.so-front h1{font-size:22px;line-height:28px;font-weight:600;letter-spacing:-.012em}
.so-front .so-front__card h1+p{margin-top:8px;color:#4f5e68}
.so-front .so-dl{margin-top:24px;border:1px solid #dde3e6;border-radius:8px;font-variant-numeric:tabular-nums}
.so-dl>div{display:flex;align-items:center;min-height:40px;padding:8px 16px;font-size:13px}
.so-dl>div+div{border-top:1px solid #e9edef}
.so-dl dt{flex:0 0 34%;color:#4f5e68}
.so-dl dd{flex:1 1 auto;min-width:0;text-align:right;word-wrap:break-word;word-break:break-word}
.so-mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Roboto Mono","Liberation Mono","DejaVu Sans Mono",monospace;font-size:12.5px}
.so-front .so-front__foot{max-width:440px;margin-top:20px;color:#4f5e68;font-size:13px;text-align:center}
@media (max-width:480px){.so-front{padding:24px 12px}.so-front__card{padding:24px 20px}}
@media (forced-colors:active){.so-tile,.so-front__site i{border:1px solid}}
`.replaceAll('\n', '');

/** Styles of pages with more content than text. The page of blocked visitors, sent the most, omits them. */
export const contentStyles = `
.so-tile--info{color:#1a5a9c;background:#e9f2fb}
.so-front .so-left{display:flex;flex-wrap:wrap;align-items:baseline;margin-top:24px;font-variant-numeric:tabular-nums}
.so-left b{margin-right:10px;font-size:44px;line-height:48px;font-weight:600;letter-spacing:-.03em}
.so-left span{color:#4f5e68}
.so-steps{display:flex;margin:24px 0 0;padding:0;list-style:none}
.so-steps li{flex:1 1 0;margin-right:6px;padding-top:10px;border-top:4px solid #dfe5e8;color:#5f6d77;font-size:12px;line-height:16px}
.so-steps li:last-child{margin-right:0}
.so-steps b{display:block;font-size:13px;line-height:20px;font-weight:600}
.so-steps .is-on{border-top-color:#c27a12;color:#4f5e68}
.so-steps .is-on b{color:#14212a}
.so-front__btn{margin-top:28px}
.so-btn{display:flex;align-items:center;justify-content:center;min-height:44px;padding:7px 16px;color:#14212a;background:#fff;border:1px solid #c3ccd1;border-radius:8px;font-weight:600;text-decoration:none}
.so-btn:hover{background:#f6f8f8;border-color:#84929b}
.so-btn:focus-visible{outline:2px solid #1b66c9;outline-offset:2px}
`.replaceAll('\n', '');

/** Additional styles for right-to-left languages: they mirror the styles above. */
export const rightToLeftStyles = `
.so-front__site i{margin-right:0;margin-left:10px}
.so-dl dd{text-align:left}
.so-left b{margin-right:0;margin-left:10px}
.so-steps li{margin-right:0;margin-left:6px}
.so-steps li:last-child{margin-left:0}
`.replaceAll('\n', '');
