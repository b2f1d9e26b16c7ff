// biome-ignore-all lint/suspicious/noPrototypeBuiltins: this file is ES5
// biome-ignore-all lint/complexity/useArrowFunction: this file is ES5
// biome-ignore-all lint/complexity/useOptionalChain: this file is ES5
// biome-ignore-all lint/complexity/useLiteralKeys: the oldest browsers take no reserved word as a name
// biome-ignore-all lint/style/useTemplate: this file is ES5
// biome-ignore-all lint/correctness/noUnusedVariables: ES5 cannot catch without a name

/**
 * Picks the build that the browser can run, and sends the first calls of the page ahead of it. It stands in the head:
 * WordPress's own scripts hold up what comes after them. Plain ES5, since it is read by every browser. The build
 * replaces the name FILES by the table of file names, { modern, legacy, pages: { PAGE_ID: files that it needs beside
 * modern }, calls: { PAGE_ID: [suffix, body] of each early call } }.
 */
(function () {
  var files = FILES;
  var ID = 'security-optimizer-app';
  var self = document.currentScript;

  function own(table, name) {
    return name && Object.prototype.hasOwnProperty.call(table, name) ? table[name] : [];
  }

  /** structuredClone came to every browser after all the syntax that the modern build uses. */
  function isModern() {
    return 'noModule' in document.createElement('script') && typeof window.structuredClone === 'function';
  }

  function preload(href) {
    var link = document.createElement('link');
    link.rel = 'modulepreload';
    link.href = href;
    document.head.appendChild(link);
  }

  /** Runs it once the container is there. */
  function whenPrinted(run) {
    if (document.getElementById(ID)) run();
    else document.addEventListener('DOMContentLoaded', run);
  }

  function fail() {
    whenPrinted(function () {
      var target = document.getElementById(ID);
      if (!target) return;
      var text = document.createElement('p');
      text.setAttribute('role', 'alert');
      text.style.padding = '24px';
      text.textContent = 'The page could not be loaded. Check your connection and reload it.';
      target.appendChild(text);
    });
  }

  /** One call as the client sends it (src/api/send.ts), which takes the answer from here and asks no second time. */
  function ask(config, suffix, body) {
    var call = { suffix: suffix, body: JSON.stringify(body), nonce: config.wp_nonce, isHere: false };
    call.answer = window
      .fetch(config.rest_base + 'security-optimizer/v1' + suffix, {
        method: 'POST',
        credentials: 'include',
        headers: { Accept: 'application/json', 'X-WP-Nonce': call.nonce, 'Content-Type': 'application/json' },
        body: call.body,
      })
      .then(function (response) {
        return response.text().then(function (text) {
          call.isHere = true;
          return { status: response.status, body: text };
        });
      });
    // Whoever takes the answer says what was wrong with it.
    call.answer['catch'](function () {});
    return call;
  }

  /**
   * Nothing is sent where the address of a call is not simply the root and its path: the client knows more forms. Nor
   * where the hash leads to another part of the page than the one that is shown at first.
   */
  function askEarly(page, config) {
    var isPlain = /^[^?#]+\/$|[?&]rest_route=\/$/.test(config.rest_base);
    if (!isPlain || !config.wp_nonce || location.hash || typeof window.fetch !== 'function') return;
    window.securityOptimizerEarly = {
      page: page,
      calls: own(files.calls, page).map(function (call) {
        return ask(config, call[0], call[1]);
      }),
    };
  }

  /** @param printed element with `data-page` and `data-config`: this script, or the container if it was moved */
  function begin(printed) {
    var page = printed && printed.getAttribute('data-page');
    var config = {};
    try {
      config = JSON.parse(printed.getAttribute('data-config')) || {};
    } catch (error) {}
    var base = String(config.assets_path || '').replace(/\/?$/, '/');
    var modern = isModern();
    if (modern) {
      own(files.pages, page).forEach(function (file) {
        preload(base + file);
      });
    }
    var script = document.createElement('script');
    if (modern) script.type = 'module';
    script.src = base + (modern ? files.modern : files.legacy);
    script.onerror = fail;
    document.head.appendChild(script);
    askEarly(page, config);
  }

  if (self && self.getAttribute('data-config')) begin(self);
  else
    whenPrinted(function () {
      begin(document.getElementById(ID));
    });
})();
