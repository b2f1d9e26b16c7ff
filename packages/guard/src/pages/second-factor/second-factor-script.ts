/**
 * What a script adds to the pages, which work without it: copy, print, and a pasted code without its spaces. Written
 * for the oldest browsers that WordPress's own log-in works in.
 */
export const secondFactorScript = `
(function () {
  var doc = document;
  function each(selector, task) { Array.prototype.forEach.call(doc.querySelectorAll(selector), task); }
  function copyByHand(text, done) {
    var area = doc.createElement('textarea');
    area.value = text;
    area.setAttribute('readonly', '');
    area.className = 'so-vh';
    doc.body.appendChild(area);
    area.select();
    try { if (doc.execCommand('copy')) done(); } finally { doc.body.removeChild(area); }
  }
  function copy(text, done) {
    if (!navigator.clipboard) return copyByHand(text, done);
    navigator.clipboard.writeText(text).then(done, function () { copyByHand(text, done); });
  }
  each('[data-copy]', function (button) {
    var said = doc.getElementById('said');
    var copied = said.getAttribute('data-copied');
    var label = button.querySelector('span');
    var before = label && label.textContent;
    button.hidden = false;
    button.addEventListener('click', function () {
      copy(button.getAttribute('data-copy'), function () {
        said.textContent = copied;
        setTimeout(function () { said.textContent = ''; if (label) label.textContent = before; }, 2000);
        if (label) label.textContent = copied;
      });
    });
  });
  each('[data-print]', function (button) {
    button.hidden = false;
    button.addEventListener('click', function () { window.print(); });
  });
  each('[data-digits]', function (input) {
    input.addEventListener('paste', function (event) {
      var data = event.clipboardData;
      if (!data) return;
      event.preventDefault();
      input.value = data.getData('text').replace(/\\D/g, '').slice(0, Number(input.getAttribute('data-digits')));
    });
  });
})();
`;
