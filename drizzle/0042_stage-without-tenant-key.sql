ALTER TABLE "ldap_staged_entries" DROP CONSTRAINT "ldap_staged_entries_tenant_id_tenants_id_fk";
