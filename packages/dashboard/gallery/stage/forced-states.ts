import type { ForcedState } from '../example.js';

const CLASS = { hover: 'force-hover', focus: 'force-focus', active: 'force-active' } as const;

/**
 * Gives each rule with `:hover`, `:focus` or `:active` a twin that asks for a class, so that the state can be shown
 * without a pointer. The twin comes right behind its rule, so that the order stays the same.
 */
export function addForcedStates(rules: CSSStyleSheet | CSSMediaRule): void {
  for (let at = rules.cssRules.length - 1; at >= 0; at--) {
    const rule = rules.cssRules[at];
    if (rule instanceof CSSMediaRule) addForcedStates(rule);
    if (!(rule instanceof CSSStyleRule) || !/:(?:hover|focus|active)/.test(rule.selectorText)) continue;
    const selector = rule.selectorText
      .replace(/:focus-visible|:focus/g, `.${CLASS.focus}`)
      .replace(/:hover/g, `.${CLASS.hover}`)
      .replace(/:active/g, `.${CLASS.active}`);
    rules.insertRule(`${selector} { ${rule.style.cssText} }`, at + 1);
  }
}

/** @throws Error when nothing matches: the example would show an ordinary state under a wrong name */
export function force(part: Element, { state, on }: ForcedState): void {
  const element = part.querySelector(on);
  if (element === null) throw new Error(`There is no ${on} to force the state ${state} on.`);
  element.classList.add(CLASS[state]);
}
