// biome-ignore-all lint/suspicious/noPrototypeBuiltins: this file is ES5
// biome-ignore-all lint/complexity/useArrowFunction: this file is ES5
// biome-ignore-all lint/complexity/useOptionalChain: this file is ES5
// biome-ignore-all lint/complexity/useLiteralKeys: the oldest browsers take no reserved word as a name
// biome-ignore-all lint/style/useTemplate: this file is ES5
// biome-ignore-all lint/correctness/noUnusedVariables: ES5 cannot catch without a name

/**
 * Loads the build that the browser supports, and sends the first requests of the page before it. It is in the head,
 * because scripts of WordPress delay everything after them. ES5, since every browser runs it. The build replaces FILES by
 * { modern, legacy, pages: { PAGE_ID: files needed beside modern }, requests: { PAGE_ID: [suffix, body] of each preloaded
 * request } }.
 */
(function () {
  var files = FILES;
  var ID = 'security-optimizer-app';
  var self = document.currentScript;

  function own(table, name) {
    return name && Object.prototype.hasOwnProperty.call(table, name) ? table[name] : [];
  }

  /** Every browser got structuredClone after all syntax of the modern build. */
  function isModern() {
    return 'noModule' in document.createElement('script') && typeof window.structuredClone === 'function';
  }

  function preload(href) {
    var link = document.createElement('link');
    link.rel = 'modulepreload';
    link.href = href;
    document.head.appendChild(link);
  }

  /** Calls `run` once the container exists. */
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

  /** Sends a request in the format of the client (src/api/client.ts), which then uses the response. */
  function send(config, suffix, body) {
    var request = { suffix: suffix, body: JSON.stringify(body), nonce: config.wp_nonce, hasArrived: false };
    request.response = window
      .fetch(config.rest_base + 'security-optimizer/v1' + suffix, {
        method: 'POST',
        credentials: 'include',
        headers: { Accept: 'application/json', 'X-WP-Nonce': request.nonce, 'Content-Type': 'application/json' },
        body: request.body,
      })
      .then(function (response) {
        return response.text().then(function (text) {
          request.hasArrived = true;
          return { status: response.status, body: text };
        });
      });
    // The client handles the error.
    request.response['catch'](function () {});
    return request;
  }

  /**
   * Sends nothing if the URL of a call is not just the REST root and its path; the client supports more forms. Nor if the
   * address opens another part of the page: by its hash, or by a view of the log (contract/src/activity/log-address.ts).
   */
  function preloadResponses(page, config) {
    var isPlain = /^[^?#]+\/$|[?&]rest_route=\/$/.test(config.rest_base);
    var isView = location.hash || /[?&]log_/.test(location.search);
    if (!isPlain || !config.wp_nonce || isView || typeof window.fetch !== 'function') return;
    window.securityOptimizerPreloaded = {
      page: page,
      requests: own(files.requests, page).map(function (request) {
        return send(config, request[0], request[1]);
      }),
    };
  }

  /** @param printed element with `data-page` and `data-config`: this script, or the container if the script was moved */
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
    preloadResponses(page, config);
  }

  if (self && self.getAttribute('data-config')) begin(self);
  else
    whenPrinted(function () {
      begin(document.getElementById(ID));
    });
})();
