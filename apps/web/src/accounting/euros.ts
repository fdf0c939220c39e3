import { language } from '../language.ts';

const formats = {
  de: new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' }),
  en: new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'EUR' }),
};

export const formatCents = (cents: number): string => formats[language.value].format(cents / 100);
