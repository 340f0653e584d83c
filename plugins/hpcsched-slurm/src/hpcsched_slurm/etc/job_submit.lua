-- Gives hpcsched the say over partitions: holds every new job in them, and marks it.
--
-- Install it beside slurm.conf as job_submit.lua, name the partitions below, set
-- `JobSubmitPlugins=lua` in slurm.conf and run `scontrol reconfigure`. The way back: take it out
-- again, reconfigure, and run `hpcsched-slurm-release --now --partition NAME`.
--
-- If a site has a hook already, call these two functions from it.

local driven = { main = true }
local mark = "hpcsched"

local function default_partition(part_list)
  for name, part in pairs(part_list) do
    if part.flag_default == 1 then
      return name
    end
  end
  return nil
end

-- How many of the partitions in a text such as "a,b" are driven, and how many are not.
local function count(partitions)
  local yes, no = 0, 0
  for name in string.gmatch(partitions or "", "[^,]+") do
    if driven[name] then yes = yes + 1 else no = no + 1 end
  end
  return yes, no
end

function slurm_job_submit(job_desc, part_list, submit_uid)
  local yes, no = count(job_desc.partition or default_partition(part_list))
  if yes == 0 then
    return slurm.SUCCESS
  end
  if no > 0 then
    slurm.log_user("a job is for partitions that hpcsched drives or for others, not for both")
    return slurm.ERROR
  end
  if job_desc.priority == 0 then
    slurm.log_user("jobs of this partition wait for hpcsched anyway; submit without --hold")
    return slurm.ERROR
  end
  job_desc.priority = 0
  job_desc.admin_comment = mark
  return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  if modify_uid == 0 then
    return slurm.SUCCESS
  end
  local was = count(job_rec.partition)
  local is = was
  if job_desc.partition ~= nil then
    is = count(job_desc.partition)
  end
  if was ~= is then
    slurm.log_user("a job cannot change between partitions that hpcsched drives and others")
    return slurm.ERROR
  end
  if was == 0 then
    return slurm.SUCCESS
  end
  if job_desc.priority ~= nil and job_desc.priority ~= slurm.NO_VAL then
    slurm.log_user("hpcsched decides when jobs of this partition start")
    return slurm.ERROR
  end
  if job_desc.req_nodes ~= nil then
    slurm.log_user("hpcsched decides where jobs of this partition start")
    return slurm.ERROR
  end
  return slurm.SUCCESS
end
