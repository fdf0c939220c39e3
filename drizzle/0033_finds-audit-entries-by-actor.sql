CREATE INDEX "audit_entries_actor" ON "audit_entries" USING btree ("actor_id","id");
