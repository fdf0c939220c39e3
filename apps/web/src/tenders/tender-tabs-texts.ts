import { catalogue } from '../language.ts';

export const texts = catalogue({ de: { search: 'Suche' }, en: { search: 'Search' } });
