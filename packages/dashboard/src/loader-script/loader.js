// biome-ignore-all lint/suspicious/noPrototypeBuiltins: this file is ES5
// biome-ignore-all lint/complexity/useArrowFunction: this file is ES5
// biome-ignore-all lint/complexity/useOptionalChain: this file is ES5
// biome-ignore-all lint/correctness/noUnusedVariables: ES5 cannot catch without a name

/**
 * Picks the build that the browser can run. Plain ES5, since it is read by every browser. The build replaces the
 * name FILES by the table of file names: { modern, legacy, pages: { PAGE_ID: files that it needs beside modern } }.
 */
(function () {
  var files = FILES;
  var self = document.currentScript;
  var container = document.getElementById('security-optimizer-app');

  /** Folder of the files: where this script came from, or what the configuration says if it was moved or merged. */
  function folder() {
    var match = /^(.*\/)loader-[^/]*\.js(?:[?#].*)?$/.exec((self && self.src) || '');
    if (match) return match[1];
    try {
      return String(JSON.parse(container.getAttribute('data-config')).assets_path).replace(/\/?$/, '/');
    } catch (error) {
      return '';
    }
  }

  /** structuredClone came to every browser after all the syntax that the modern build uses. */
  function isModern() {
    return 'noModule' in document.createElement('script') && typeof window.structuredClone === 'function';
  }

  function preload(file) {
    var link = document.createElement('link');
    link.rel = 'modulepreload';
    link.href = base + file;
    document.head.appendChild(link);
  }

  function fail() {
    var target = document.getElementById('security-optimizer-app');
    if (!target) return;
    var text = document.createElement('p');
    text.setAttribute('role', 'alert');
    text.style.padding = '24px';
    text.textContent = 'The page could not be loaded. Check your connection and reload it.';
    target.appendChild(text);
  }

  var base = folder();
  var modern = isModern();
  var page = container && container.getAttribute('data-page');
  if (modern && page && Object.prototype.hasOwnProperty.call(files.pages, page)) files.pages[page].forEach(preload);

  var script = document.createElement('script');
  if (modern) script.type = 'module';
  script.src = base + (modern ? files.modern : files.legacy);
  script.onerror = fail;
  document.head.appendChild(script);
})();
