/** Puts the focus on the first control of a form that is marked as bad. */
export function focusFirstError(within: Element | null): void {
  within?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid]')?.focus();
}
